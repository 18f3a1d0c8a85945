/** What kubectl prints on `setpoint up` is what it prints on a genuine cluster, but for known differences. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { compareStories, type FoundDifference, isKnown, readKnown } from "./kubectl-beside/differences.ts";
import { startOurPlace } from "./kubectl-beside/our-place.ts";
import { pageOf, readPage } from "./kubectl-beside/page.ts";
import { playStory } from "./kubectl-beside/play.ts";
import { comparedSteps, readStories } from "./kubectl-beside/story.ts";

const stories = readStories();
const known = readKnown();
const found: FoundDifference[] = [];
let place: Awaited<ReturnType<typeof startOurPlace>>;

beforeAll(async () => {
  place = await startOurPlace();
});
afterAll(() => place?.[Symbol.asyncDispose]());

test("at least 80 commands are compared, and the page lists what differs", () => {
  expect(stories.flatMap(comparedSteps).length).toBeGreaterThanOrEqual(80);
  expect(readPage()).toBe(pageOf(stories, known));
});

test.each(stories)("$name: kubectl prints what it prints on a genuine cluster", async (story) => {
  const differences = compareStories(story, await playStory(story, place, new AbortController().signal));
  found.push(...differences);
  const unknown = differences.filter((each) => !known.some((one) => isKnown(one, each)));
  expect(unknown.map(({ command, line }) => `$ ${command}\n    ${line}`).join("\n")).toBe("");
});

test("each known difference is still seen", () => {
  const unseen = known.filter((one) => one.isRare !== true && !found.some((each) => isKnown(one, each)));
  expect(unseen).toEqual([]);
});
