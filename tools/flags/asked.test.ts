import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

test.each([
  ["tools/mutants/run.ts", ["--fly"], "Cannot run the mutants: Unknown option '--fly'; the flags are --only, "],
  ["tools/mutants/run.ts", ["--only", "M99"], 'Cannot run the mutants: --only is "M99", and none begins so\n'],
  ["tools/mutation/run.ts", ["--fly"], "Cannot test by mutation: Unknown option '--fly'; the flags are --files, "],
  ["e2e/determinism/run.ts", ["--jobs", "0"], 'Cannot compare: --jobs is "0", expected a whole number of at least 1\n'],
])(
  "a campaign that cannot be is refused in a sentence: %s %j",
  (file, args, sentence) => {
    const program = fileURLToPath(new URL(`../../${file}`, import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, ["--conditions=@setpoint/source", program, ...args], {
      encoding: "utf8",
    });
    expect(stderr.slice(0, sentence.length)).toBe(sentence);
    expect(status).toBe(2);
  },
  60_000,
);
