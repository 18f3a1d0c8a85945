import { expect, test } from "vitest";
import { missingPackages, missingSentence } from "./host-tools.ts";

const without = (isRoot: boolean, ...programs: readonly string[]): readonly string[] =>
  missingPackages({ isRoot, has: (program) => !programs.includes(program) }).map(({ name }) => name);

test("missingPackages() names each package once, whatever it is for", () => {
  expect(without(true)).toEqual([]);
  expect(without(true, "crun", "unshare", "nsenter", "nft", "mmdebstrap")).toEqual([
    ...["crun", "util-linux", "nftables", "mmdebstrap"],
  ]);
});

test("missingPackages() names what an ordinary user needs, and nothing that only root uses", () => {
  expect(without(false, "nft", "ip", "newuidmap")).toEqual(["uidmap"]);
  expect(without(true, "nft", "ip", "newuidmap")).toEqual(["nftables", "iproute2"]);
});

test.each([
  [["crun"], "crun is not installed; type as root: apt-get install --yes crun"],
  [["crun", "conmon"], "crun and conmon are not installed; type as root: apt-get install --yes crun conmon"],
  [["a", "b", "c"], "a, b and c are not installed; type as root: apt-get install --yes a b c"],
])("missingSentence() for %j has one command", (names, sentence) => {
  expect(missingSentence(names.map((name) => ({ name })))).toBe(sentence);
});
