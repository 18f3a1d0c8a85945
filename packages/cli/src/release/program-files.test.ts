import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { programFiles } from "./program-files.ts";

/** Writes files below a folder of their own; objects as JSON. */
function written(files: Readonly<Record<string, object | string>>): string {
  const folder = ownFolder("program-files");
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), typeof content === "string" ? content : JSON.stringify(content));
  }
  return folder;
}

const placesOf = (folder: string, start: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    programFiles(join(folder, start), "/app").map(({ from, to }) => [to, relative(folder, from)] as const),
  );

test("a program has its own build, and its dependencies without what Node cannot run", () => {
  const folder = written({
    "own/package.json": { name: "@setpoint/own", dependencies: { other: "1" } },
    "own/dist/main.js": "",
    "own/dist/main.d.ts": "",
    "own/dist/main.js.map": "",
    "own/src/main.ts": "",
    "own/README.md": "",
    "node_modules/other/package.json": { name: "other" },
    "node_modules/other/src/index.js": "",
    "node_modules/other/src/index.ts": "",
    "node_modules/unrelated/package.json": { name: "unrelated" },
  });
  expect(placesOf(folder, "own")).toEqual({
    "/app/node_modules/@setpoint/own/package.json": "own/package.json",
    "/app/node_modules/@setpoint/own/dist/main.js": "own/dist/main.js",
    "/app/node_modules/other/package.json": "node_modules/other/package.json",
    "/app/node_modules/other/src/index.js": "node_modules/other/src/index.js",
  });
});

test("two versions of a package are found by their users", () => {
  const folder = written({
    "own/package.json": { name: "setpoint", dependencies: { a: "1", b: "1" } },
    "own/node_modules/a/package.json": { name: "a", version: "1" },
    "own/node_modules/b/package.json": { name: "b", dependencies: { a: "2" } },
    "own/node_modules/b/node_modules/a/package.json": { name: "a", version: "2" },
  });
  expect(placesOf(folder, "own")).toMatchObject({
    "/app/node_modules/a/package.json": "own/node_modules/a/package.json",
    "/app/node_modules/b/node_modules/a/package.json": "own/node_modules/b/node_modules/a/package.json",
  });
});

test("packages that are links, as pnpm and workspaces make them, are followed", () => {
  const folder = written({
    "store/own/package.json": { name: "setpoint", dependencies: { a: "1" } },
    "store/a/package.json": { name: "a", dependencies: { setpoint: "1" } },
    "store/a/index.js": "",
  });
  mkdirSync(join(folder, "store/node_modules"));
  for (const [name, at] of [
    ["a", "a"],
    ["setpoint", "own"],
  ] as const)
    symlinkSync(join(folder, "store", at), join(folder, "store/node_modules", name));
  expect(Object.keys(placesOf(folder, "store/node_modules/setpoint"))).toEqual([
    "/app/node_modules/setpoint/package.json",
    "/app/node_modules/a/index.js",
    "/app/node_modules/a/package.json",
  ]);
});

test("an add-on of another platform may be missing, any other dependency not", () => {
  const folder = written({
    "own/package.json": { name: "own", optionalDependencies: { "lib-other-arm64": "1" }, dependencies: { gone: "1" } },
  });
  expect(() => placesOf(folder, "own")).toThrow(/: its dependency "gone" is not installed; install the package again$/);
});
