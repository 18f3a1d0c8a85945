/**
 * docs/etcd-capabilities.md answers the questions of the capability levels: each answer names a test that
 * exists, and the score is right.
 */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const page = new URL("../../docs/etcd-capabilities.md", import.meta.url);
const text = readFileSync(page, "utf8");

interface Answer {
  readonly question: string;
  readonly mark: string;
  readonly how: string;
  readonly file: string | undefined;
  /** A part of the test's name. */
  readonly title: string | undefined;
}

const answers: readonly Answer[] = text
  .split("\n")
  .filter((line) => /^\|\s+\d+ \|/.test(line))
  .map((line) => line.split("|").map((cell) => cell.trim()))
  .map(([, , question = "", mark = "", how = "", cell = ""]) => {
    const [, file, title] = /^\[[^\]]*\]\(([^)]+)\)(?:: (.+))?$/.exec(cell) ?? [];
    return { question, mark, how, file, title };
  });

test("the page answers all 38 questions, and counts its answers right", () => {
  expect(answers).toHaveLength(38);
  const count = (mark: string): number => answers.filter((answer) => answer.mark === mark).length;
  expect(text).toContain(`Score: ${count("Y")} of 38 (${count("P")} more in part)`);
});

test.each(answers.filter(({ mark }) => mark !== "–"))("$question: the test exists", ({ file, title, mark }) => {
  expect(["Y", "P"]).toContain(mark);
  const tests = readFileSync(new URL(file ?? "no-test-named", page), "utf8");
  expect(tests).toMatch(/\btest(\.each)?\(/);
  if (title !== undefined) expect(tests).toContain(title);
});

test.each(answers.filter(({ mark }) => mark === "–"))("$question: the reason is given", ({ how }) => {
  expect(how).not.toBe("");
});
