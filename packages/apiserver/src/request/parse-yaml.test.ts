import { expect, test } from "vitest";
import { parseYaml } from "./parse-yaml.ts";

test.each([
  ["2026-01-01", "2026-01-01"],
  ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"],
  ["1:30", "1:30"],
  ["!!binary aGk=", "hi"],
  ["!!float 1", 1],
  ["0o17", 15],
  ["017", 15],
  ["0x10", 16],
  ["1e400", "1e400"],
  ["9007199254740993", 9007199254740993n],
  ["9223372036854775808", 2 ** 63],
  ["on", true],
  ["", null],
])("the scalar %s is read as by the API", (text, value) => {
  expect(parseYaml(`a: ${text}`).value).toEqual({ a: value });
});

test.each([
  ["a: .inf", "json: unsupported value: +Inf"],
  ["a: -.inf", "json: unsupported value: -Inf"],
  ["a: .nan", "json: unsupported value: NaN"],
  ['null: "d"', 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "d"'],
  ["%YAML 1.1\n", "Missing directives-end"],
])("%j is refused", (text, message) => {
  expect(() => parseYaml(text)).toThrow(message);
});

test("the first of several documents counts, and a text without any is null", () => {
  expect(parseYaml("a: 1\n---\na: [").value).toEqual({ a: 1 });
  expect(parseYaml("# nothing\n").value).toBeNull();
});
