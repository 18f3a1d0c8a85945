import { expect, test } from "vitest";
import { yamlDocuments } from "./yaml-documents.ts";

test("scalars are those of kubectl", () => {
  const text = 'mode: 0644\nflag: on\ntime: 12:30:45\nday: 2026-11-28\nquoted: "0644"\n';
  expect(yamlDocuments(text)).toEqual([{ mode: 420, flag: true, time: "12:30:45", day: "2026-11-28", quoted: "0644" }]);
});

test("an error has one line that says where", () => {
  expect(() => yamlDocuments("a: [1")).toThrow(/^[^\n]+ at line 1, column \d+$/);
});
