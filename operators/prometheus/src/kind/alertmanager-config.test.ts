import { kindLaws } from "setpoint/testing";
import { expect, test } from "vitest";
import { AlertmanagerConfig } from "./alertmanager-config.ts";

const newer = "monitoring.coreos.com/v1beta1";

test("the newer version says how a matcher matches, and names time intervals otherwise", () => {
  const object = AlertmanagerConfig({
    name: "team",
    spec: {
      route: {
        receiver: "hook",
        matchers: [{ name: "severity", value: "a|b", regex: true }],
        routes: [{ matchers: [{ name: "job", value: "db" }] }],
      },
      inhibitRules: [{ sourceMatch: [{ name: "a", value: "b" }], targetMatch: [{ name: "c", matchType: "!=" }] }],
      muteTimeIntervals: [{ name: "night" }],
    },
  });
  expect(AlertmanagerConfig.convert(object, newer)).toMatchObject({
    apiVersion: newer,
    spec: {
      route: {
        matchers: [{ name: "severity", value: "a|b", matchType: "=~" }],
        routes: [{ matchers: [{ name: "job", value: "db", matchType: "=" }] }],
      },
      inhibitRules: [
        { sourceMatch: [{ name: "a", value: "b", matchType: "=" }], targetMatch: [{ name: "c", matchType: "!=" }] },
      ],
      timeIntervals: [{ name: "night" }],
    },
  });
});

test("an object of the newer version is stored as the older one", () => {
  const made = AlertmanagerConfig.convert(
    {
      apiVersion: newer,
      kind: "AlertmanagerConfig",
      metadata: { name: "team" },
      spec: { timeIntervals: [{ name: "night" }] },
    } as Parameters<typeof AlertmanagerConfig.convert>[0],
    AlertmanagerConfig.apiVersion,
  );
  expect(made).toMatchObject({ spec: { muteTimeIntervals: [{ name: "night" }] } });
});

test("no round trip loses data", () => {
  expect(kindLaws(AlertmanagerConfig).tried).toBeGreaterThan(100);
});
