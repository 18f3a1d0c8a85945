import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseLibraries } from "./node-files.ts";
import { commandOf, copyProject, projectOf } from "./project-files.ts";

function project(files: Readonly<Record<string, object | string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "operator-image-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

test("an image has the project's files and the packages that it needs at run time, each version at its place", () => {
  const folder = project({
    "package.json": { dependencies: { setpoint: "^0.1.0", a: "1" }, devDependencies: { vitest: "5" } },
    "src/index.ts": "",
    ".env": "SECRET=1",
    "old.tar": "",
    "node_modules/setpoint/package.json": { bin: { setpoint: "./bin.mjs" }, dependencies: { b: "2" } },
    "node_modules/setpoint/node_modules/b/package.json": {},
    "node_modules/setpoint/node_modules/unused/package.json": {},
    "node_modules/a/package.json": { dependencies: { b: "1" }, optionalDependencies: { absent: "1" } },
    "node_modules/b/package.json": {},
    "node_modules/vitest/package.json": {},
  });
  const target = join(folder, ".target");
  copyProject(folder, target, new Set([join(folder, "old.tar")]));
  const copied = readdirSync(target, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  expect(copied.map(({ parentPath, name }) => join(parentPath, name).slice(target.length + 1)).toSorted()).toEqual([
    "node_modules/a/package.json",
    "node_modules/b/package.json",
    "node_modules/setpoint/node_modules/b/package.json",
    "node_modules/setpoint/package.json",
    "package.json",
    "src/index.ts",
  ]);
  expect(commandOf(folder)).toBe("node_modules/setpoint/bin.mjs");
  expect(projectOf(join(folder, "src/index.ts"))).toBe(folder);
});

test("a project whose packages are not installed is refused in one sentence", () => {
  const folder = project({ "package.json": { dependencies: { a: "1" } } });
  expect(() => commandOf(folder)).toThrow(/the package "setpoint" is not installed in it; run npm install there$/);
  const target = join(folder, ".target");
  expect(() => copyProject(folder, target, new Set())).toThrow(/its dependency "a" is not installed; run npm install/);
  expect(existsSync(join(target, "node_modules"))).toBe(false);
});

test("the libraries that Node needs are read from what ldd prints", () => {
  const text = `
	linux-vdso.so.1 (0x00007f385ba60000)
	libdl.so.2 => /lib/x86_64-linux-gnu/libdl.so.2 (0x00007f385ba40000)
	/lib64/ld-linux-x86-64.so.2 (0x00007f385ba62000)
`;
  expect(parseLibraries(text)).toEqual(["/lib/x86_64-linux-gnu/libdl.so.2", "/lib64/ld-linux-x86-64.so.2"]);
});
