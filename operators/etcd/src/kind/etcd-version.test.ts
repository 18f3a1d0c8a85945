import { expect, test } from "vitest";
import { dataRefusal, upgradeRefusal } from "./etcd-version.ts";

const nowMs = Date.parse("2026-01-01T00:00:00Z");

test.each([
  ["3.4.23", "3.5.16", undefined],
  ["3.5.16", "3.5.26", undefined],
  ["3.5.26", "3.6.4", undefined],
  ["3.5.16", "3.6.4", "only 3.5.26 and later can be upgraded to 3.6"],
  ["3.4.23", "3.6.4", "may not jump over a minor version"],
  ["3.6.4", "3.5.30", "cannot be downgraded"],
  ["3.6.4", "3.7.0", "version 3.7.0 is not supported"],
])("upgradeRefusal() from %s to %s is %s", (from, to, why) => {
  if (why === undefined) expect(upgradeRefusal(from, to, nowMs)).toBeUndefined();
  else expect(upgradeRefusal(from, to, nowMs)).toContain(why);
});

test.each([
  ["3.4.23", "3.4.23", undefined],
  ["3.5.26", "3.5.16", undefined],
  ["3.4.23", "3.5.16", undefined],
  ["3.4.23", "3.6.4", "restore into a cluster of version 3.4 or 3.5"],
  ["3.6.4", "3.5.16", "restore into a cluster of version 3.6 or 3.7"],
  ["unknown", "3.5.16", "the data are of etcd unknown"],
])("dataRefusal() of data of %s in members of %s is %s", (from, to, why) => {
  if (why === undefined) expect(dataRefusal(from, to)).toBeUndefined();
  else expect(dataRefusal(from, to)).toContain(why);
});
