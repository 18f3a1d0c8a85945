import { expect, test } from "vitest";
import { parseFaultPlan } from "./fault-file.ts";

test("a plan is read with its defaults", () => {
  const plan = parseFaultPlan({ rules: [{ fault: "latency", maxMs: 20, match: { verbs: ["create"] } }] });
  expect(plan).toEqual({
    seed: 1,
    rules: [
      {
        name: "rule-0",
        fault: "latency",
        settings: { maxMs: 20 },
        match: { verbs: ["create"] },
        every: 1,
        percent: 100,
        times: Number.POSITIVE_INFINITY,
      },
    ],
  });
});

test.each<[unknown, string]>([
  [undefined, "the file is empty"],
  [[], "the file is not an object"],
  [{ rule: [] }, "rule is not a field here; known are seed, rules"],
  [{ seed: -1 }, "seed is -1; expected a whole number from 0"],
  [{ rules: {} }, "rules is not a list"],
  [{ rules: ["conflict"] }, "rules[0] is not an object"],
  [{ rules: [{}] }, "rules[0].fault is missing; the faults are conflict,"],
  [{ rules: [{ fault: "confict" }] }, 'rules[0].fault is "confict"; the faults are conflict,'],
  [{ rules: [{ fault: "latency" }] }, "rules[0].maxMs is missing; expected a whole number from 0 to 3600000"],
  [{ rules: [{ fault: "latency", minMs: 9, maxMs: 8 }] }, "rules[0].minMs is 9, more than maxMs, which is 8"],
  [{ rules: [{ fault: "conflict", maxMs: 1 }] }, "rules[0].maxMs is not a field here"],
  [
    { rules: [{ fault: "serverError", status: 404 }] },
    "rules[0].status is 404; expected a whole number from 500 to 504",
  ],
  [{ rules: [{ fault: "conflict", percent: 101 }] }, "rules[0].percent is 101; expected a whole number from 0 to 100"],
  [
    { rules: [{ fault: "conflict", match: { verb: [] } }] },
    "rules[0].match.verb is not a field here; known are verbs,",
  ],
  [{ rules: [{ fault: "conflict", match: { verbs: "get" } }] }, "rules[0].match.verbs is not a list"],
  [
    { rules: [{ fault: "conflict", match: { verbs: ["get", "put"] } }] },
    'rules[0].match.verbs[1] is "put"; the verbs are',
  ],
  [{ rules: [{ fault: "conflict", match: { names: [7] } }] }, "rules[0].match.names[0] is 7, not a text"],
  [
    {
      rules: [
        { fault: "conflict", name: "a" },
        { fault: "gone", name: "a" },
      ],
    },
    'rules[1].name is "a", as that of another rule',
  ],
])("a bad plan is refused with the path of the field: %j", (value, problem) => {
  expect(() => parseFaultPlan(value)).toThrow(`Cannot use the faults: ${problem}`);
});
