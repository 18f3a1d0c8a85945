import { preserved } from "setpoint/kinds";
import { expect, test } from "vitest";
import { z } from "zod";
import { count, open, text } from "./open-object.ts";
import { unreadFields } from "./unread-fields.ts";

const schema = open({
  interval: text.default("30s"),
  endpoints: z.array(open({ port: text, tls: open({ caFile: text }).optional() })).optional(),
  containers: z.array(preserved()).optional(),
  shards: count,
});

test.each([
  ["all declared", { interval: "1m", endpoints: [{ port: "web", tls: { caFile: "a" } }], shards: 2 }, []],
  ["a misspelt one", { intervall: "1m" }, ["spec.intervall"]],
  ["one in an item of a list", { endpoints: [{ port: "web" }, { prot: "web" }] }, ["spec.endpoints[1].prot"]],
  ["one deeper", { endpoints: [{ tls: { ca: 1 } }] }, ["spec.endpoints[0].tls.ca"]],
  ["parts of pods, which are passed on", { containers: [{ name: "a", anything: {} }] }, []],
  ["a name of every object", { constructor: 1 }, ["spec.constructor"]],
])("fields that nobody reads: %s", (_, value, expected) => {
  expect(unreadFields(schema, value, "spec")).toEqual(expected);
});
