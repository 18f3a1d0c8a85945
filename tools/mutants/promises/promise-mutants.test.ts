import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mutated, promiseMutants } from "./promise-mutants.ts";

const root = new URL("../../..", import.meta.url);
const read = (file: string): string => readFileSync(new URL(file, root), "utf8");

test.each(promiseMutants)("$id still changes its file, and its test is there", (mutant) => {
  const source = read(mutant.file);
  expect(mutated(source, mutant)).not.toBe(source);
  // The names of a table's tests begin with "when".
  expect(read(mutant.test)).toContain(mutant.named.replace(/^when /, ""));
});

test("a text that the file does not contain is refused with the file's name", () => {
  const [mutant] = promiseMutants;
  if (mutant === undefined) throw new Error("there are no mutants");
  expect(() => mutated("", mutant)).toThrow(`${mutant.file} has 0 times`);
});
