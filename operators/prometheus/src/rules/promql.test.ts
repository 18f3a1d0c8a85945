import { expect, test } from "vitest";
import { promqlProblem, withMatcher } from "./promql.ts";

test.each([
  'rate(http_requests_total{job="a",code=~"5.."}[5m] offset 1h) > 0.5',
  "sum by (a, b) (x) / on(a) group_left(c) y",
  "quantile(0.9, foo)",
  "foo[5m:1m] @ end()",
  "avg_over_time((rate(foo[5m]))[10m:])",
  'vector(1) and on() absent(up{job="x"})',
  '{"foo.bar", a="b"}',
  "foo # comment\n + bar",
  "up offset -5m",
  "1 > bool 2",
  "time() - hour()",
  'label_join(foo, "a", ",", "b", "c")',
  "round(foo)",
  'count_values without (a) ("v", foo)',
  "-foo ^ 2",
  '{__name__=~".+"}',
  "1",
  '"text"',
])("Prometheus takes %s", (expression) => {
  expect(promqlProblem(expression)).toBeUndefined();
});

test.each([
  ["foo{", 'syntax error at 1:5, near ""'],
  ["a +\n nofunc(x)", 'syntax error at 2:8, near "(x)"'],
  ["rate(foo)", 'function rate expects a matrix, got the vector "foo"'],
  ["abs(foo[5m])", 'function abs expects a vector, got the matrix "foo[5m]"'],
  ["clamp(foo, 1)", "function clamp expects 3 arguments, got 2"],
  ["round(foo, 1, 2)", "function round expects 1 to 2 arguments, got 3"],
  ["label_join(foo)", "function label_join expects at least 3 arguments, got 1"],
  ["sum(a, b)", "aggregation sum expects 1 arguments, got 2"],
  ["topk(foo, bar)", 'aggregation topk expects a scalar, got the vector "foo"'],
  ["1 > 2", "a comparison of two scalars needs the modifier bool"],
  ['foo + "abc"', "an operator expects scalars or vectors, got a string"],
  ["foo[5m] + 1", "an operator expects scalars or vectors, got a matrix"],
  ["1 and foo", "and, or and unless expect vectors, got a scalar"],
  ["foo + on(a) 1", "on, ignoring and group expect vectors on both sides, got a scalar"],
  ["-foo[5m]", 'a range is only possible behind a selector, not behind "-foo"'],
  ["(foo)[5m]", 'a range is only possible behind a selector, not behind "(foo)"'],
  ["{}", '"{}" selects everything; add a name, or a matcher that is not empty'],
  ['{a=""}', '"{a=""}" selects everything; add a name, or a matcher that is not empty'],
  ["mad_over_time(foo[5m])", "function mad_over_time needs the feature promql-experimental-functions"],
  ["1 offset 1d", 'offset and @ are possible behind a selector or a subquery, not behind "1"'],
  ["foo offset 1s offset 2s", 'offset and @ are possible behind a selector or a subquery, not behind "foo offset 1s"'],
  ["foo and on(a) group_left(b) c", "group_left and group_right are not possible with and, or and unless"],
  ["foo + on(a) group_left(a) b", 'the label "a" is in on and in the group; remove one of them'],
  ["foo + bool bar", "the modifier bool is only possible with a comparison"],
  ['foo{__name__="bar"}', 'the name of "foo{__name__="bar"}" is there twice'],
  ['{x!~".+"}', '"{x!~".+"}" selects everything; add a name, or a matcher that is not empty'],
  ["foo[0m]", 'a range must be longer than 0, got "0m"'],
  ["foo[5m+1m]", 'the duration "5m+1m" needs the feature promql-duration-expr'],
  ['label_replace(a, "b", "c", "d", "\\c")', '"\\c" has an escape that is none'],
  ["rate(foo[5m] anchored)", '"foo[5m] anchored" needs the feature promql-extended-range-selectors'],
  ["foo + fill(0) bar", '"fill(0)" needs the feature promql-binop-fill-modifiers'],
  ["", "expected an expression, got nothing"],
])("Prometheus refuses %s", (expression, problem) => {
  expect(promqlProblem(expression)).toBe(problem);
});

test.each([
  ["promql-experimental-functions", "mad_over_time(foo[5m])"],
  ["promql-extended-range-selectors", "rate(foo[5m] anchored)"],
  ["promql-binop-fill-modifiers", "foo + fill(0) bar"],
  ["promql-duration-expr", "rate(foo[5m+1m])"],
])("the feature %s allows %s", (feature, expression) => {
  expect(promqlProblem(expression, { features: [feature] })).toBeUndefined();
});

test.each([
  ["foo", 'foo{namespace="shop"}'],
  ['foo{a="b"}', 'foo{a="b",namespace="shop"}'],
  ['foo{namespace="other"}', 'foo{namespace="shop"}'],
  [
    'rate(foo{namespace=~".*",a="b"}[5m]) / sum(bar) by (namespace)',
    'rate(foo{a="b",namespace="shop"}[5m]) / sum(bar{namespace="shop"}) by (namespace)',
  ],
  ['{"foo.bar"}', '{"foo.bar",namespace="shop"}'],
  ['{__name__="foo","namespace"!="shop"}', '{__name__="foo",namespace="shop"}'],
  ["foo{} offset 5m", 'foo{namespace="shop"} offset 5m'],
  ["1 + time()", "1 + time()"],
])("%s selects in one namespace as %s", (expression, enforced) => {
  expect(withMatcher(expression, "namespace", "shop")).toBe(enforced);
});
