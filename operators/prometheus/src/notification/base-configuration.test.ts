import { expect, test } from "vitest";
import { defaultConfiguration, parseBase } from "./base-configuration.ts";

test("the default configuration is one", () => {
  expect(parseBase(defaultConfiguration)).toEqual({ route: { receiver: "null" }, receivers: [{ name: "null" }] });
});

const receivers = "receivers: [{name: a}]\n";

test.each([
  ["route: {receiver: a", "it is no YAML: BAD_INDENT in line 1, column 20 of alertmanager.yaml"],
  ["[]", "alertmanager.yaml is no mapping"],
  [receivers, "section route is missing"],
  [`${receivers}route: {}`, "route.receiver: expected the name of a receiver"],
  [`${receivers}route: {receiver: b}`, 'route.receiver: there is no receiver "b"'],
  [`${receivers}route: {receiver: a, routes: [{receiver: c}]}`, 'route.routes[0].receiver: there is no receiver "c"'],
  [`${receivers}route: {receiver: a, matchers: [x=y]}`, "route.matchers: the root route cannot have it"],
  [`${receivers}route: {receiver: a, continue: true}`, "route.continue: the root route cannot have it"],
  [
    `${receivers}route: {receiver: a, routes: [{mute_time_intervals: [night]}]}`,
    'route.routes[0].mute_time_intervals: there is no time interval "night"',
  ],
  [
    "receivers: [{name: a}, {name: a}]\nroute: {receiver: a}",
    'receivers[1].name: "a" is there twice; choose another name',
  ],
  [`${receivers}route: {receiver: a}\nrules: []`, 'Alertmanager knows no section "rules"; remove it'],
])("%j is refused", (text, message) => {
  expect(() => parseBase(text)).toThrow(message);
});

test("times and labels stay texts", () => {
  const interval = "{name: night, time_intervals: [{times: [{start_time: 17:00, end_time: 24:00}]}]}";
  const route = "route: {receiver: a, routes: [{match: {critical: yes, code: 0123}, continue: yes}]}";
  expect(parseBase(`${receivers}${route}\ntime_intervals: [${interval}]`)).toMatchObject({
    route: { routes: [{ match: { critical: "yes", code: "0123" }, continue: true }] },
    time_intervals: [{ time_intervals: [{ times: [{ start_time: "17:00", end_time: "24:00" }] }] }],
  });
});

test("a refusal never quotes what may be a password", () => {
  expect(() => parseBase("global: {smtp_auth_password: 'secret\n")).toThrow(/^(?!.*secret)/s);
});
