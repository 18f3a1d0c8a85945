/** A three-way merge by lines: git's own. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface MergedText {
  /** With conflict marks unless `isClean`. */
  readonly text: string;
  readonly isClean: boolean;
}

/** Undefined when there is no git, or it cannot merge these. */
export function mergeText(base: string, mine: string, theirs: string): MergedText | undefined {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-merge-"));
  try {
    const texts = { mine, base, theirs };
    for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text);
    const labels = ["yours", "as created", "new scaffold"].flatMap((label) => ["-L", label]);
    const args = ["merge-file", "-p", ...labels, "mine", "base", "theirs"];
    const { status, stdout } = spawnSync("git", args, { cwd: folder, encoding: "utf8" });
    // Up to 127 it is the number of conflicts; above, an error.
    return status === null || status > 127 ? undefined : { text: stdout, isClean: status === 0 };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
