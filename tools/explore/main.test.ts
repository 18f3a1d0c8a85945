import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const program = fileURLToPath(new URL("main.ts", import.meta.url));
const candy = fileURLToPath(new URL("../../examples/candy/candy.ts", import.meta.url));

test.each([
  [["--fly"], /^Cannot explore: Unknown option '--fly'; the flags are --seconds, /],
  [[candy], /: expected a module that exports `subject` and a list `worlds` \(docs\/exploring\.md\)\n$/],
])(
  "an exploration that cannot be is refused in a sentence: %j",
  (args, sentence) => {
    const { status, stderr } = spawnSync(process.execPath, ["--conditions=@setpoint/source", program, ...args], {
      encoding: "utf8",
    });
    expect(stderr).toMatch(sentence);
    expect(status).toBe(2);
  },
  60_000,
);
