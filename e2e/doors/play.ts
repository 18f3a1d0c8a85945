/**
 * Plays a story: each command as typed, in one shell; what is wrong ends it with what the command printed.
 */
import type { Shell } from "./shell.ts";
import { type Act, type Expected, isTyped, type Preparation, type Story, type TypedCommand } from "./story.ts";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

const commandSeconds = 60;
const shownMax = 4_000;

export async function play({ acts }: Story, shell: Shell): Promise<void> {
  for (const act of acts) await perform(act, shell);
}

function perform(act: Act, shell: Shell): Promise<void> {
  return isTyped(act) ? type(act, shell) : prepare(act, shell);
}

async function type(command: TypedCommand, shell: Shell): Promise<void> {
  await check(asTyped(command), command, shell);
}

async function prepare(preparation: Preparation, shell: Shell): Promise<void> {
  const { prepare: command, files = {} } = preparation;
  for (const [name, content] of Object.entries(files)) writeFileSync(join(shell.cwd, name), content);
  await check(command, preparation, shell);
}

/** Throws with what was printed when a command does not end or print as expected. */
async function check(text: string, expected: Expected, shell: Shell): Promise<void> {
  const { until, says, code = 0, seconds = commandSeconds } = expected;
  const ran = await (until === undefined ? shell.run(text, seconds) : shell.runUntil(text, until, seconds));
  const misses = [until, says].find((wanted) => wanted !== undefined && !wanted.test(ran.text));
  if (misses !== undefined) throw wrong(text, `did not print ${String(misses)}`, ran.text);
  if (until === undefined && ran.code !== code) throw wrong(text, `ended with ${ran.code}, expected ${code}`, ran.text);
}

function asTyped({ typed, with: replaced = {} }: TypedCommand): string {
  return Object.entries(replaced).reduce((before, [word, value]) => before.replaceAll(word, value), typed);
}

function wrong(command: string, why: string, text: string): Error {
  return new Error(`${command}\n${why}; it printed:\n${text.slice(-shownMax)}`);
}
