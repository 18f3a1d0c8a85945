import { expect, test } from "vitest";
import { LabelSelector, labelSelectorOf, matchesLabelSelector, parseLabelSelector } from "./label-selector.ts";

const web = { app: "web", tier: "front", gen: "7" };

test.each([
  ["", true],
  ["app=web", true],
  ["app==web,tier!=back", true],
  ["app in (web, api),!old", true],
  ["missing notin (a)", true],
  ["missing!=a", true],
  ["app,tier", true],
  ["gen>6,gen<8", true],
  ["gen>7", false],
  ["tier>1", false],
  ["app in (api)", false],
  ["!app", false],
  ["app=", false],
  ["missing", false],
  ["in in (in)", false],
])("%j matches the web pod: %s", (text, expected) => {
  expect(parseLabelSelector(text).matches(web)).toBe(expected);
});

test.each([
  ["b=1,a!=2", "a!=2,b=1"],
  ["x in (c,a,,b)", "x in (,a,b,c)"],
  ["x notin ()", "x notin ()"],
  ["a,!b", "a,!b"],
  ["a > 1", "a>1"],
  ["a==b", "a==b"],
])("%j is written back as %j", (text, canonical) => {
  expect(parseLabelSelector(text).toString()).toBe(canonical);
});

test.each([
  ["a b", "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
  ["=a", "found '=', expected: !, identifier, or 'end of string'"],
  ["a,", "found '', expected: identifier after ','"],
  ["a in b", "unable to parse requirement: found 'b' expected: '('"],
  ["a in (b", "unable to parse requirement: found '', expected: ',' or ')'"],
  ["a=b=c", "found '=', expected: ',' or 'end of string'"],
  ["!", "unable to parse requirement: found '', expected: identifier"],
  [
    "a>x",
    `unable to parse requirement: values[0]: Invalid value: "x": for 'Gt', 'Lt' operators, the value must be an integer`,
  ],
])("%j is refused as upstream refuses it", (text, message) => {
  expect(() => parseLabelSelector(text)).toThrow(new Error(message));
});

test("a key that is no qualified name is reported without a path, as upstream", () => {
  expect(() => parseLabelSelector("a/b/c=d")).toThrow(
    /^unable to parse requirement: <nil>: Invalid value: "a\/b\/c": a valid label key/,
  );
});

test("an absent selector selects nothing and an empty one everything", () => {
  expect(labelSelectorOf(undefined)).toBe(LabelSelector.nothing);
  expect(labelSelectorOf(undefined).matches({})).toBe(false);
  expect(labelSelectorOf({}).matches({ any: "thing" })).toBe(true);
});

test("a spec's selector joins labels and expressions", () => {
  const selector = labelSelectorOf({
    matchLabels: { app: "web" },
    matchExpressions: [
      { key: "tier", operator: "In", values: ["front", "edge"] },
      { key: "old", operator: "DoesNotExist" },
    ],
  });
  expect(selector.matches(web)).toBe(true);
  expect(selector.matches({ ...web, old: "" })).toBe(false);
  expect(selector.toString()).toBe("app=web,!old,tier in (edge,front)");
  expect(() => labelSelectorOf({ matchExpressions: [{ key: "a", operator: "Gt" }] })).toThrow(
    '"Gt" is not a valid label selector operator',
  );
});

test("labels named like members of Object are ordinary labels", () => {
  expect(parseLabelSelector("!constructor").matches({})).toBe(true);
});

test.each([
  [undefined, {}, false],
  [{}, { any: "thing" }, true],
  [{ matchLabels: { app: "web" } }, { app: "web", tier: "front" }, true],
  [{ matchLabels: { app: "web" } }, { app: "db" }, false],
  [{ matchLabels: { constructor: "a" } }, {}, false],
  [{ matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] }, { tier: "front" }, true],
  [{ matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] }, {}, false],
  [{ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] }, { tier: "front" }, false],
  [{ matchExpressions: [{ key: "tier", operator: "NotIn", values: ["front"] }] }, {}, true],
  [{ matchExpressions: [{ key: "tier", operator: "Exists" }] }, { tier: "" }, true],
  [{ matchExpressions: [{ key: "tier", operator: "DoesNotExist" }] }, { tier: "" }, false],
  [{ matchExpressions: [{ key: "tier", operator: "Gt", values: ["1"] }] }, { tier: "2" }, false],
])("the selector %j matches the labels %j: %s", (selector, labels, matches) => {
  expect(matchesLabelSelector(selector, labels)).toBe(matches);
});
