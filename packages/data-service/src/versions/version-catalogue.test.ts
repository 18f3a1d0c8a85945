import { expect, test } from "vitest";
import {
  type CatalogueVersion,
  compareVersions,
  type UpgradeRules,
  upgradePath,
  versionRefusal,
  versionReport,
} from "./version-catalogue.ts";

const rules: UpgradeRules = {
  engine: "etcd",
  supportedMinors: ["3.4", "3.5", "3.6"],
  minorsSkipped: 0,
  patchDowngrade: false,
};
const catalogue: readonly CatalogueVersion[] = [
  { version: "3.4.23", released: "2022-12-21", deprecated: "2025-05-15" },
  { version: "3.5.0", withdrawn: "2022-04-01", reason: "it may corrupt data" },
  { version: "3.5.16" },
  { version: "3.5.17" },
  { version: "3.6.1" },
];
const nowMs = Date.parse("2026-01-01T00:00:00Z");

test.each([
  ["3.4.23", "3.5.16", undefined],
  ["3.4.23", "3.4.24", undefined],
  ["3.5.16", "3.5.16", undefined],
  [undefined, "3.6.1", undefined],
  ["3.5.16", "3.4.23", "members run 3.5.16, and etcd cannot be downgraded to 3.4.23"],
  ["3.5.17", "3.5.16", "members run 3.5.17, and etcd cannot be downgraded to 3.5.16"],
  ["3.4.23", "3.6.1", "members run 3.4.23, and an upgrade may not jump over a minor version: go to 3.5 first"],
  ["3.4.23", "3.5.0", "version 3.5.0 was withdrawn on 2022-04-01: it may corrupt data"],
  [undefined, "3.5.0", "version 3.5.0 was withdrawn on 2022-04-01: it may corrupt data"],
  ["3.5.0", "3.5.0", undefined],
  ["3.4.23", "3.7.0", "version 3.7.0 is not supported, only 3.4.x and 3.5.x and 3.6.x"],
  ["3.4.23", "latest", '"latest" is not a version of the form 3.5.16'],
])("from %s to %s: %s", (from, to, refusal) => {
  expect(versionRefusal(rules, catalogue, from, to, nowMs)).toBe(refusal);
});

test("a version is deprecated and withdrawn from its day on", () => {
  const dated = [{ version: "3.4.23", deprecated: "2026-02-01", withdrawn: "2026-03-01" }];
  const stateOn = (day: string): string => versionReport(dated, "3.4.23", Date.parse(day)).state;
  expect(["2026-01-31", "2026-02-01", "2026-02-28", "2026-03-01"].map(stateOn)).toEqual([
    ...["Available", "Deprecated", "Deprecated", "Withdrawn"],
  ]);
});

test("a path visits the newest patch of each minor", () => {
  expect(upgradePath(rules, catalogue, "3.4.23", "3.6.1", nowMs)).toEqual(["3.5.17", "3.6.1"]);
  expect(upgradePath(rules, catalogue, "3.5.16", "3.4.23", nowMs)).toBe(undefined);
});

test("versions are ordered by their numbers, not as texts", () => {
  expect(["3.5.9", "3.5.16", "3.4.30", "edge"].toSorted(compareVersions)).toEqual([
    ...["3.4.30", "3.5.9", "3.5.16", "edge"],
  ]);
});
