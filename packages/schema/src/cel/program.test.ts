import { expect, test } from "vitest";
import { compile } from "./program.ts";
import { CelFault, CelList, CelUint, type Value } from "./value.ts";

const costLimit = 1_000_000;

/** What an expression without variables comes to; faults as their message. */
function run(source: string): unknown {
  const program = compile(source, new Map());
  if (typeof program === "string") return program;
  return plainOf(program.run([], costLimit).value);
}

function plainOf(value: Value): unknown {
  if (value instanceof CelFault) return `fault: ${value.message}`;
  if (value instanceof CelUint) return value.value;
  if (value instanceof CelList) return Array.from({ length: value.length }, (_, index) => plainOf(value.get(index)));
  return value;
}

test.each([
  ["1 + 2 * 3 - 4", 3n],
  ["-9223372036854775808", -(2n ** 63n)],
  ["7 / -2", -3n],
  ["-7 % 3", -1n],
  ["0x1F", 31n],
  ["9223372036854775807 + 1", "fault: integer overflow"],
  ["1u - 2u", "fault: unsigned integer overflow"],
  ["1.0 / 0.0", Infinity],
  ["1 / 0", "fault: division by zero"],
  ["dyn(1) == 1.0", true],
  ["1 < 1.5 && 2u > 1", true],
  ["int('42') + int(3.9)", 45n],
  ["int('x')", "fault: type conversion error from 'string' to 'int'"],
])("numbers: %s is %s", (source, result) => {
  expect(run(source)).toBe(result);
});

test.each([
  ["false && [1][5] == 1", false],
  ["[1][5] == 1 && false", false],
  ["true || [1][5] == 1", true],
  ["[1][5] == 1 || true", true],
  ["[1][5] == 1 || false", "fault: index out of bounds: 5"],
  ["[1, 0, 2].exists(x, 10 / x > 6)", true],
  ["[1, 0, 2].all(x, 10 / x > 6)", false],
  ["[0, 2].all(x, 10 / x > 1)", "fault: division by zero"],
])("an error counts only when nothing else decides: %s", (source, result) => {
  expect(run(source)).toBe(result);
});

test.each([
  ["'a\\u00e9\\x41\\101'", "aéAA"],
  ['r\'\\d\' + """x\ny"""', "\\dx\ny"],
  ["size('héllo🙂')", 6n],
  ["'héllo🙂'.charAt(5)", "🙂"],
  ["'a,b,c'.split(',', 2)", ["a", "b,c"]],
  ["'hello'.replace('', '-')", "-h-e-l-l-o-"],
  ["'x=%s y=%.2f z=%d'.format(['a', 1.005, 7])", "x=a y=1.00 z=7"],
  ["'%.0f %.0f'.format([2.5, 3.5])", "2 4"],
  ["'\uffff' < '🙂'", true],
  ["'abc'.matches('^[a-b]+')", true],
])("texts: %s", (source, result) => {
  expect(run(source)).toEqual(result);
});

test.each([
  ["timestamp('2024-02-29T23:59:59.5Z').getDayOfYear()", 59n],
  ["timestamp('2024-01-01T00:00:00Z').getFullYear('America/New_York')", 2023n],
  ["timestamp('2024-01-01T00:30:00Z').getMinutes('+05:45')", 15n],
  ["string(timestamp('0001-01-01T00:00:00Z'))", "0001-01-01T00:00:00Z"],
  ["timestamp('9999-12-31T23:59:59Z') + duration('1s')", "fault: timestamp overflow"],
  ["duration('1h30m').getMinutes()", 90n],
  ["string(duration('1.5s') - duration('2s'))", "-0.5s"],
  ["timestamp('2024-03-01T00:00:00Z') - timestamp('2024-02-28T00:00:00Z') == duration('48h')", true],
])("times: %s", (source, result) => {
  expect(run(source)).toBe(result);
});

test.each([
  ["{'a': 1}.?b.orValue(5)", 5n],
  ["[1, 2][?5].hasValue()", false],
  ["optional.of(2).optMap(x, x * 2).value()", 4n],
  ["optional.none().orValue(1)", 1n],
  ["[?optional.of(1), ?optional.none(), 3]", [1n, 3n]],
  ["[3, 4].transformList(i, v, i * v)", [0n, 4n]],
  ["{'a': 1, 'b': 2}.transformMap(k, v, v > 1, v * 2) == {'b': 4}", true],
  ["{'a': 1}.all(k, v, k == 'a' && v == 1)", true],
  ["[1, 2, 3].map(x, x > 1, x * x)", [4n, 9n]],
  ["[2, 1].sort() == [1, 2] && [1, 1].distinct() == [1]", true],
])("optionals and loops: %s", (source, result) => {
  expect(run(source)).toEqual(result);
});

test("what costs too much is stopped, and nothing absorbs that", () => {
  const program = compile("[1,2,3,4,5,6].all(a, [1,2,3].all(b, a + b > 0)) || true", new Map());
  if (typeof program === "string") throw new Error(program);
  const { cost } = program.run([], costLimit);
  expect(program.run([], cost).isCancelled).toBe(false);
  expect(program.run([], cost - 1).isCancelled).toBe(true);
});

test("expressions that are too deep or too long are refused", () => {
  expect(compile("(".repeat(300), new Map())).toContain("expression recursion limit exceeded: 250");
  for (const chain of [" && true", " + 1", ".a", "[0]"])
    expect(compile(`x${chain.repeat(9_000)}`, new Map())).toContain("expression recursion limit exceeded: 1000");
  expect(typeof compile(`true${" && true".repeat(999)}`, new Map())).toBe("object");
  expect(compile(`'${"x".repeat(100_001)}'`, new Map())).toContain("code point size exceeds limit");
});

test("every wrong place is named, with its line and a caret of the right width", () => {
  expect(compile("'ü' == 'ü' &&\n\tx > y", new Map())).toBe(
    [
      "ERROR: <input>:2:2: undeclared reference to 'x' (in container '')",
      " |  x > y",
      " | .^",
      "ERROR: <input>:2:6: undeclared reference to 'y' (in container '')",
      " |  x > y",
      " | .....^",
    ].join("\n"),
  );
});
