/** A short `npm run campaign`: the long one, with 1,000 failovers, is a script of its own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const script = new URL("campaign/run.ts", import.meta.url).pathname;

test("failovers lose no acknowledged write, and the checker finds a stale read", async () => {
  const state = mkdtempSync(join(tmpdir(), "setpoint-campaign-state-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const flags = ["--failovers", "4", "--plain", "1", "--clusters", "1", "--seed", "4", "--state", state];
  const campaign = spawn(process.execPath, ["--conditions=@setpoint/source", script, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void campaign.kill("SIGTERM"));
  const [output, [code]] = await Promise.all([text(campaign.stdout), once(campaign, "close") as Promise<[number]>]);
  console.log(output);
  expect([code, output.match(/^holds$/m)?.[0]]).toEqual([0, "holds"]);
  expect(output).toContain("The checker finds the stale read of a member that is cut off");
  expect(output).toMatch(/ 0 lost;.* 0 keys not linearizable/);
});
