import { expect, test } from "vitest";
import { bytesBetween, canonicalText, positionOf } from "../instance/instance-protocol.ts";
import { fixedParameters, parameterRefusals } from "./parameters.ts";

test("parameterRefusals() names the field and the reason", () => {
  expect(
    parameterRefusals({ work_mem: "8MB", archive_command: "true", "auto_explain.log_min_duration": "1s" }),
  ).toEqual([
    {
      field: "spec.parameters[archive_command]",
      why: "the operator sets archive_command, because failover, TLS or recovery stand on it; remove it",
    },
  ]);
  expect(parameterRefusals({ Port: "1" })[0]?.why).toMatch(/is not the name of a setting/);
  expect(parameterRefusals({ work_mem: "8MB'\nport = '1" })[0]?.why).toMatch(/has a line break/);
});

test("the fixed parameters are sorted, each once", () => {
  expect(fixedParameters).toEqual([...new Set(fixedParameters)].toSorted());
});

test("positions of the log compare as two halves of 32 bits", () => {
  expect(positionOf("16/B374D848")).toBe(0x16_b374_d848n);
  expect(bytesBetween("0/FFFFFFFF", "1/0")).toBe(1);
  expect(bytesBetween("1/0", "0/FFFFFFFF")).toBe(-1);
  expect(() => positionOf("garbage")).toThrow(/Cannot read the position "garbage"/);
});

test("canonicalText() is equal for documents that differ in the order of keys and absent fields", () => {
  expect(canonicalText({ b: [1, { d: 2, c: undefined }], a: "x" })).toBe(canonicalText({ a: "x", b: [1, { d: 2 }] }));
});
