import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { parseUpOptions } from "./up.ts";

const folder = ownFolder("up");

function file(text: string): string {
  const path = join(folder, "faults.yaml");
  writeFileSync(path, text);
  return path;
}

test("faults are read from YAML", () => {
  const text = "seed: 7\nrules:\n  - fault: conflict\n    every: 3\n    match: { verbs: [update] }\n";
  expect(parseUpOptions(["--faults", file(text)]).faults).toMatchObject({
    seed: 7,
    rules: [{ fault: "conflict", every: 3, match: { verbs: ["update"] } }],
  });
  expect(parseUpOptions([]).faults).toBeUndefined();
});

test.each([
  ["rules:\n  - fault: conflict\n    match: { verbs: [create, patchh] }\n", 'rules[0].match.verbs[1] is "patchh"'],
  ["rules:\n  - fault: latency\n", "rules[0].maxMs is missing; expected a whole number from 0 to 3600000"],
  ["", "the file is empty"],
])("a bad file of faults is refused with the field's path: %j", (text, problem) => {
  expect(() => parseUpOptions(["--faults", file(text)])).toThrow(`Cannot use the faults: ${problem}`);
});

test("a file of faults that cannot be read is named", () => {
  expect(() => parseUpOptions(["--faults", join(folder, "none.yaml")])).toThrow(
    /^Cannot read the faults in ".*none\.yaml": no such file$/,
  );
  expect(() => parseUpOptions(["--faults", file("rules:\n\t- fault: conflict\n")])).toThrow(
    /^Cannot read the faults in ".*faults\.yaml": Tabs are not allowed as indentation at line 2, column 1$/,
  );
});

test("an image catalogue is read from --images, else from images.yaml of the data directory", () => {
  const text = "images: [{ name: tools, suite: trixie, packages: [busybox-static] }]\n";
  const closure = { suite: "trixie", packages: ["busybox-static"] };
  writeFileSync(join(folder, "images.yaml"), text);
  const expected = { "docker.io/library/tools:latest": { closure } };
  expect(parseUpOptions(["--data-dir", folder]).localImages).toEqual(expected);
  expect(parseUpOptions(["--images", join(folder, "images.yaml")]).localImages).toEqual(expected);
  expect(parseUpOptions(["--data-dir", join(folder, "other")]).localImages).toEqual({});
  writeFileSync(join(folder, "wrong.yaml"), text.replace("trixie", "7"));
  expect(() => parseUpOptions(["--images", join(folder, "wrong.yaml")])).toThrow(
    "Cannot use the image catalogue: images[0].suite: expected a text, got 7",
  );
  expect(() => parseUpOptions(["--images", join(folder, "none.yaml")])).toThrow(/^Cannot read image catalogue ".*none/);
});

test("--allow-host is for root alone, who has what it gives", () => {
  const getuid = vi.spyOn(process, "getuid").mockReturnValue(1000);
  onTestFinished(() => getuid.mockRestore());
  expect(() => parseUpOptions(["--allow-host"])).toThrow(/^Cannot use --allow-host as an ordinary user: .* as root$/);
  expect(parseUpOptions([]).allowHost).toBe(false);
  getuid.mockReturnValue(0);
  expect(parseUpOptions(["--allow-host"]).allowHost).toBe(true);
});
