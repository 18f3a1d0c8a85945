import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { candy, ownFolder } from "./own-folder.fixture.ts";
import { setpoint } from "./setpoint.fixture.ts";
import { writeText, writeTexts } from "./write-text.ts";

const folder = ownFolder("write");

test("texts are written below a folder that is made, and what is for its owner is for its owner", () => {
  const [path = ""] = writeTexts(join(folder, "new"), new Map([["a/b.yaml", "b"]]));
  expect(readFileSync(path, "utf8")).toBe("b");
  writeText("the kubeconfig", join(folder, "kubeconfig"), "", 0o600);
  expect(statSync(join(folder, "kubeconfig")).mode & 0o777).toBe(0o600);
});

test("a file that cannot be written is reported in words", async () => {
  expect(() => writeText("the kubeconfig", folder, "")).toThrow(
    `Cannot write the kubeconfig "${folder}": expected a writable file`,
  );
  const file = join(folder, "file");
  writeFileSync(file, "");
  const refusal = `Cannot use "${file}`;
  expect((await setpoint("manifests", candy, "--output", "helm", file)).err).toContain(refusal);
  expect((await setpoint("bundle", candy, file, "--version", "1.2.3")).err).toContain(refusal);
});

test("nothing is written through a link in the folder, or outside of it", () => {
  const [outside, into] = [join(folder, "outside"), join(folder, "linked")];
  for (const each of [outside, into]) mkdirSync(each);
  symlinkSync(outside, join(into, "manifests"));
  symlinkSync(join(outside, "file"), join(into, "file"));
  for (const name of ["manifests/a.yaml", "file", "../outside/a"])
    expect(() => writeTexts(into, new Map([[name, "x"]]))).toThrow(`Cannot write "${name}" into "${into}"`);
  expect(readdirSync(outside)).toEqual([]);
});
