import { globSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";

interface Project {
  readonly references: readonly { readonly path: string }[];
}

test("npm run build builds every package and operator, so that a fresh clone can be packed", () => {
  const { references } = JSON.parse(readFileSync("tsconfig.build.json", "utf8")) as Project;
  const folders = globSync(["packages/*/tsconfig.json", "operators/*/tsconfig.json"]).map(dirname).sort();
  expect(folders.length).toBeGreaterThan(10);
  expect(references.map(({ path }) => path)).toEqual(expect.arrayContaining(folders));
});
