/** Starts `npm run campaign` from a test: the long ones are commands of their own. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

const script = new URL("run.ts", import.meta.url).pathname;

/** What it printed, and its exit code. Its results go with the test. */
export async function shortCampaign(
  ...args: readonly string[]
): Promise<{ readonly output: string; readonly code: number }> {
  const state = mkdtempSync(join(tmpdir(), "setpoint-campaign-state-"));
  onTestFinished(() => rmSync(state, { recursive: true, force: true }));
  const command = ["--conditions=@setpoint/source", script, ...args, "--clusters", "1", "--state", state];
  const campaign = spawn(process.execPath, command, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void campaign.kill("SIGTERM"));
  const [output, [code]] = await Promise.all([text(campaign.stdout), once(campaign, "close") as Promise<[number]>]);
  console.log(output);
  return { output, code };
}
