import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url).pathname;

function sources(): readonly string[] {
  const files = execFileSync(
    "git",
    ["ls-files", "--cached", "--others", "--exclude-standard", "packages", "operators"],
    { cwd: root, encoding: "utf8" },
  );
  return files.split("\n").filter((file) => file.endsWith(".ts") && !/(\.test\.ts|\.test-d\.ts|fixture)/.test(file));
}

test("every error code is documented, and every documented code exists", () => {
  const used = new Set<string>();
  for (const file of sources()) {
    for (const [, code = ""] of readFileSync(`${root}/${file}`, "utf8").matchAll(/"(ERR_[A-Z_]+)"/g)) used.add(code);
  }
  const documented = [...readFileSync(`${root}/docs/errors.md`, "utf8").matchAll(/^\| `(ERR_[A-Z_]+)`\s+\|/gm)].map(
    ([, code = ""]) => code,
  );
  expect(documented.toSorted()).toEqual([...used].toSorted());
});
