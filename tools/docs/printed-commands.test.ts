/** Every command that the README and the pages print is typed by a story, or has a reason why not. */
import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isForm, isMention, nameProblem } from "../../e2e/doors/command-forms.ts";
import { printedCommands } from "../../e2e/doors/printed-commands.ts";
import { stories } from "../../e2e/doors/stories.ts";
import { isTyped } from "../../e2e/doors/story.ts";
import { reasonNotToPlay, unplayed } from "../../e2e/doors/unplayed.ts";

const root = new URL("../..", import.meta.url).pathname;
const pages = globSync(["README.md", "CONTRIBUTING.md", "docs/*.md", "operators/*/README.md"], {
  cwd: root,
}).toSorted();
const printed = pages.flatMap((page) => printedCommands(page, readFileSync(`${root}${page}`, "utf8")));
const whole = printed.filter(({ text }) => !isForm(text) && !isMention(text));
const typed = new Map(
  stories.flatMap(({ pages: played, acts }) => acts.filter(isTyped).map((act) => [act.typed, played] as const)),
);

test("a page's command is typed by a story, or has a reason why not", () => {
  const left = whole.filter(({ text }) => !typed.has(text) && reasonNotToPlay(text) === undefined);
  expect(left.map(({ page, line, text }) => `${page}:${line} ${text}`)).toEqual([]);
});

test("a story types commands that its pages print", () => {
  const known = new Set(whole.map(({ text }) => text));
  expect([...typed.keys()].filter((each) => !known.has(each))).toEqual([]);
});

test("each reason is needed", () => {
  const beginnings = unplayed.flatMap(({ commands }) => commands);
  const unused = beginnings.filter((each) => !whole.some(({ text }) => text.startsWith(each) && !typed.has(text)));
  expect(unused).toEqual([]);
});

test("commands, scripts and flags that pages name exist", () => {
  // A page shows what a wrong flag gives.
  const meant = printed.filter(({ text }) => !text.includes("--imgae"));
  const problems = meant.flatMap(({ page, line, text }) => {
    const problem = nameProblem(text);
    return problem === undefined ? [] : [`${page}:${line} ${problem}`];
  });
  expect(problems).toEqual([]);
});
