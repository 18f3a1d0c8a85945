import { expect, test } from "vitest";
import { yamlDocuments } from "./yaml-documents.ts";

test("all documents of a text are read, JSON and empty ones too", () => {
  expect(yamlDocuments('a: 1\n---\n---\n{"b": 2}\n')).toEqual([{ a: 1 }, null, { b: 2 }]);
});

test("a mistake is named in one line, with its place", () => {
  expect(() => yamlDocuments("a: 1\nb: [1, 2\n")).toThrow(/^[^\n]+at line 3, column 1$/);
});
