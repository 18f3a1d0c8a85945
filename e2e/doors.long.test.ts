/**
 * Every command that the README and the pages print, typed as a reader types it: in a fresh clone, or with
 * the tarball in an empty folder. CI plays the first hour; `npm run doors` plays everything.
 */
import { afterAll, expect, test, vi } from "vitest";
import { play } from "./doors/play.ts";
import { NoRegistry, Stage } from "./doors/stage.ts";
import { stories } from "./doors/stories.ts";
import { missingForPods } from "./node/test-cluster.ts";
import { commandLine, processesWith } from "./processes.ts";

const all = process.env["SETPOINT_DOORS"] ?? "";
const played = stories.filter(({ inCi = false, title }) => (all === "" ? inCi : all === "all" || title.includes(all)));
const missing = missingForPods();
if (missing !== "") console.warn(`skipped: what the pages print: ${missing}`);

const stage = new Stage();
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  // A message of one line, since the gate shows only that.
  await vi.waitFor(() => expect(processesWith(stage.folder).map(commandLine).join("; ")).toBe(""), 60_000);
}, 300_000);

test.skipIf(missing !== "").for(played)("$title", { timeout: 1_200_000 }, async (story, { skip }) => {
  try {
    await using shell = await stage.shell(story.place);
    await play(story, shell);
  } catch (error) {
    if (error instanceof NoRegistry) skip(error.message);
    throw error;
  }
});
