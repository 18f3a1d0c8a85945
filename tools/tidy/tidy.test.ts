import { expect, test } from "vitest";
import { commentWidthProblems } from "./comment-width.ts";
import { documentedExportProblems } from "./documented-exports.ts";
import { engineSizeProblems } from "./engine-size.ts";
import { foldersOnly, orderProblems } from "./folder-order.ts";
import { mutualFolderProblems } from "./mutual-folders.ts";
import { operatorRoomProblems } from "./operator-rooms.ts";
import { importCycleProblems } from "./import-cycles.ts";
import { longSentences, longSubjects } from "./plain-sentences.ts";
import { plainWordProblems } from "./plain-words.ts";
import { functionLengthProblems } from "./readable-functions.ts";
import type { SourceFile } from "./source-files.ts";

function file(path: string, text: string, imports: readonly string[] = []): SourceFile {
  return { path, text, imports, isTest: false };
}

test("an import of a later folder is a problem, an import of an earlier one is not", () => {
  const read = file("packages/p/src/read/read.ts", "", ["packages/p/src/write/write.ts", "packages/p/src/errors.ts"]);
  const write = file("packages/p/src/write/write.ts", "", ["packages/p/src/storage/store.ts"]);
  const unlisted = file("packages/p/src/odd/odd.ts", "");
  expect(orderProblems([read, write, unlisted], "packages/p", ["storage", "read", "write"])).toEqual([
    "packages/p/src/read/read.ts: imports packages/p/src/write/write.ts, which is in a later folder (tools/tidy/folder-order.ts)",
    "packages/p/src/odd/odd.ts: its folder is not in the order of packages/p (tools/tidy/folder-order.ts)",
  ]);
});

test("where only folders have an order, the files beside them and entries may import and be imported", () => {
  const later = "packages/p/src/b/b.ts";
  const files = [
    file("packages/p/src/a/a.ts", "", ["packages/p/src/root.ts", later]),
    file("packages/p/src/a/index.ts", "", [later]),
    file("packages/p/src/root.ts", "", [later]),
  ];
  expect(orderProblems(foldersOnly(files, "packages/p"), "packages/p", ["a", "b"])).toEqual([
    `packages/p/src/a/a.ts: imports ${later}, which is in a later folder (tools/tidy/folder-order.ts)`,
  ]);
});

test("long sentences of pages and long subjects of commits are reported; code and tables are not", () => {
  const long = "word ".repeat(26).trim();
  const text = `Short.\n\n${long}\nand more. A short one.\n\n| ${long} |\n\n\`\`\`\n${long}\n\`\`\``;
  expect(longSentences({ path: "a.md", text })).toEqual(["a.md:3: a sentence has 28 words, at most 25"]);
  expect(longSentences({ path: "a.ts", text })).toEqual([]);
  expect(longSubjects(["a: short", "b".repeat(61)])).toHaveLength(1);
});

test.each([
  ["seen", "plan", true],
  ["observe", "act", true],
  ["kind", "seen", true],
  ["plan", "kind", false],
  ["act", "observe", false],
])("a file of the room %s that imports %s is a problem: %s", (room, target, isProblem) => {
  const path = `operators/x/src/${room}/a.ts`;
  const imports = [`operators/x/src/${target}/b.ts`];
  expect(operatorRoomProblems([file(path, "", imports)])).toHaveLength(isProblem ? 1 : 0);
  expect(operatorRoomProblems([{ ...file(path, "", imports), isTest: true }])).toEqual([]);
});

test("two folders that import each other are a problem, in every package", () => {
  const read = file("packages/p/src/read/a.ts", "", ["packages/p/src/write/b.ts"]);
  const write = file("packages/p/src/write/b.ts", "", ["packages/p/src/read/a.ts", "packages/p/src/errors.ts"]);
  expect(mutualFolderProblems([read])).toEqual([]);
  expect(mutualFolderProblems([read, write])).toEqual([
    'packages/p/src/: the folders "read" and "write" import each other: packages/p/src/read/a.ts imports packages/p/src/write/b.ts, and packages/p/src/write/b.ts imports packages/p/src/read/a.ts',
  ]);
});

test("the shortest way around an import cycle is reported once", () => {
  const files = [
    file("a.ts", "", ["b.ts"]),
    file("b.ts", "", ["c.ts", "a.ts"]),
    file("c.ts", "", ["a.ts"]),
    file("d.ts", "", ["a.ts"]),
  ];
  expect(importCycleProblems(files)).toEqual([
    "import cycle: a.ts → b.ts → a.ts",
    "import cycle: c.ts → a.ts → b.ts → c.ts",
  ]);
});

test("a word of the list is reported with its line and what to write instead", () => {
  const problems = plainWordProblems([{ path: "elsewhere/page.md", text: "The list\nis read anew." }]);
  expect(problems).toEqual(['elsewhere/page.md:2: "anew"; write again, or a verb with "re": relist, recreate']);
});

test("long functions are reported when they are the usual ones", () => {
  const long = `function f() {\n${"  call();\n".repeat(50)}}`;
  expect(functionLengthProblems([file("packages/p/src/f.ts", long)])).toHaveLength(2);
  expect(functionLengthProblems([file("packages/p/src/f.ts", "function f() {\n  call();\n}")])).toEqual([]);
});

test("a name that a package exports without a doc comment is reported by its entry", () => {
  const entry = file("packages/p/src/index.ts", 'export { a } from "./a.ts";\nexport { b } from "./a.ts";');
  const a = file("packages/p/src/a.ts", "/** What it is. */\nexport const a = 1;\nexport const b = 2;");
  expect(documentedExportProblems([entry, a])[0]).toBe(
    'packages/p/src/index.ts: "b" has no doc comment where it is declared',
  );
});

test("a comment wider than 110 columns is reported, code and a line of nothing but a code span are not", () => {
  const wide = "word ".repeat(22).trim();
  const text = [`// ${wide}`, `/** ${wide} */`, ` * ${wide}`, ` * \`${wide}\`.`, `const x = "${wide}";`].join("\n");
  expect(commentWidthProblems([{ path: "p.ts", text }])).toEqual([
    "p.ts:1: a comment's line has 112 columns, at most 110",
    "p.ts:2: a comment's line has 116 columns, at most 110",
    "p.ts:3: a comment's line has 112 columns, at most 110",
  ]);
  expect(commentWidthProblems([{ path: "packages/api/src/core-v1.ts", text }])).toEqual([]);
});

test("the engine of test is too large at 300 lines, whatever its tests and models have", () => {
  const files = [
    file("operators/key-value/src/a.ts", "x\n".repeat(299)),
    file("operators/key-value/src/testing/model.ts", "x\n".repeat(299)),
    { ...file("operators/key-value/src/a.test.ts", "x\n".repeat(299)), isTest: true },
  ];
  expect(engineSizeProblems(files)).toEqual([]);
  expect(engineSizeProblems([...files, file("operators/key-value/src/b.ts", "x\n")])).toEqual([
    "operators/key-value/src/: 300 lines, at most 299; move what every engine needs to packages/data-service",
  ]);
});
