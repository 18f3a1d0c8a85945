/**
 * Prints one line for each seed of a range: `seed hash how-it-ended`. Run by `run.ts`, by one version of Node
 * or another.
 */
import { tellStory } from "./story.ts";

const [from = 0, count = 1, direction = 1] = process.argv.slice(2).map(Number);
for (let index = 0; index < count; index++) {
  const seed = direction < 0 ? from + count - 1 - index : from + index;
  process.stdout.write(`${seed} ${await tellStory(seed)}\n`);
}
