import { targetRefusal, type RestoreTarget } from "@setpoint/data-service";
import { expect, test } from "vitest";
import { postgresTarget, recoveryFile } from "./postgres-target.ts";

function settingsFor(target: RestoreTarget | undefined): string {
  return postgresTarget.replay({ target, timeline: 3, end: "0/7000000" }).files[recoveryFile] ?? "";
}

test.each<[RestoreTarget, string]>([
  [{ kind: "time", value: "2026-11-27T16:32:25.610Z" }, "recovery_target_time = '2026-11-27 16:32:25.610+00'"],
  [{ kind: "time", value: "2026-11-27t16:32:25+02:00" }, "recovery_target_time = '2026-11-27 16:32:25+02:00'"],
  [{ kind: "position", value: "0/3000148" }, "recovery_target_lsn = '0/3000148'"],
  [{ kind: "transaction", value: "744" }, "recovery_target_xid = '744'"],
  [{ kind: "name", value: "before it's late" }, "recovery_target_name = 'before it''s late'"],
  [{ kind: "name", value: "a\\b" }, "recovery_target_name = 'a\\\\b'"],
])("a restore to %j", (target, line) => {
  const lines = settingsFor(target).split("\n");
  expect(lines).toContain(line);
  expect(lines).toContain("recovery_target_timeline = '3'");
});

test("without a target all of the archive is replayed", () => {
  expect(settingsFor(undefined)).not.toMatch(/recovery_target_(time|lsn|name|xid) /);
});

test.each<[RestoreTarget, string]>([
  [{ kind: "position", value: "12" }, "expected two hexadecimal numbers such as 0/3000148"],
  [{ kind: "transaction", value: "seven" }, "expected a number"],
  [{ kind: "name", value: "two\nlines" }, "no line breaks"],
])("a target that is none is refused: %j", (target, refusal) => {
  expect(targetRefusal(target, postgresTarget)).toContain(refusal);
});
