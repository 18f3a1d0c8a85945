/**
 * `npm run kubectl-beside [-- STORY …]`: plays the stories on `setpoint up`. Prints each line that differs
 * from the genuine cluster's and is not known. Writes docs/kubectl.md.
 */
import { writeFileSync } from "node:fs";
import { compareStories, isKnown, readKnown } from "./differences.ts";
import { startOurPlace } from "./our-place.ts";
import { pageOf, pagePath } from "./page.ts";
import { playStory } from "./play.ts";
import { comparedSteps, readStories } from "./story.ts";

const only = process.argv.slice(2);
const known = readKnown();
const stopping = new AbortController();
process.once("SIGINT", () => stopping.abort(new Error("Stopped by SIGINT")));

writeFileSync(pagePath, pageOf(readStories(), known));
await using place = await startOurPlace();
for (const story of readStories().filter(({ name }) => only.length === 0 || only.includes(name))) {
  const found = compareStories(story, await playStory(story, place, stopping.signal));
  const unknown = found.filter((each) => !known.some((one) => isKnown(one, each)));
  console.log(
    `${story.name}: ${comparedSteps(story).length} commands, ${found.length} lines differ, ${unknown.length} of them unknown`,
  );
  for (const [i, { command, line }] of unknown.entries()) {
    if (unknown[i - 1]?.command !== command) console.log(`  $ ${command}`);
    console.log(`    ${line}`);
  }
}
