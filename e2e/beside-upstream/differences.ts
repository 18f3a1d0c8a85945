/**
 * Differences from upstream that are allowed, each with its reason. One that is no longer seen fails the
 * suite.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { parse } from "yaml";
import { differencesOf, type Answer, type Difference } from "./answers.ts";
import type { Recording } from "./replay.ts";

export interface AllowedDifference {
  readonly subject: string;
  /** A regular expression on the input's name. */
  readonly input: string;
  /** A regular expression on the path in the answers: `[0].body.message`. */
  readonly path: string;
  readonly reason: string;
}

/** What an input differs in: `numbers: JSON 1e400 in big: [0].status: 201, upstream 400`. */
export interface FoundDifference extends Difference {
  readonly subject: string;
  readonly input: string;
}

export function readAllowed(): readonly AllowedDifference[] {
  const text = readFileSync(new URL("differences.yaml", import.meta.url), "utf8");
  return (parse(text) as readonly AllowedDifference[] | null) ?? [];
}

const openFile = new URL("open.json", import.meta.url);

/**
 * Inputs whose answers still differ and should not, as `subject: input`. The list only gets shorter: an input
 * that has become equal fails the suite until it is taken out.
 */
export function readOpen(): ReadonlySet<string> {
  return new Set(JSON.parse(readFileSync(openFile, "utf8")) as readonly string[]);
}

/** Replaces the list of inputs that still differ. */
export function writeOpen(inputs: ReadonlySet<string>): void {
  const lines = [...inputs].toSorted((a, b) => (a < b ? -1 : 1)).map((each) => JSON.stringify(each));
  writeFileSync(openFile, `[\n${lines.join(",\n")}\n]\n`);
}

/** `numbers: JSON 1e400 in big`: how an input is named in open.json. */
export function nameOf({ subject, input }: Pick<FoundDifference, "subject" | "input">): string {
  return `${subject}: ${input}`;
}

/** All differences of a file, allowed or not. */
export function compare(subject: string, ours: Recording, upstream: Recording): readonly FoundDifference[] {
  return Object.keys(ours).flatMap((input) =>
    differencesOfAnswers(ours[input] ?? [], upstream[input]).map((found) => ({ ...found, subject, input })),
  );
}

/** Another status is one difference, and answers after it say nothing more: they follow from it. */
function differencesOfAnswers(ours: readonly Answer[], upstream: readonly Answer[] | undefined): readonly Difference[] {
  if (upstream === undefined) return [{ path: "", ours: "answers", upstream: "nothing recorded" }];
  const other = ours.findIndex((answer, i) => answer.status !== upstream[i]?.status);
  const same = other === -1 ? ours.length : other;
  const differences = differencesOf(ours.slice(0, same), upstream.slice(0, same));
  if (other === -1) return differences;
  return [...differences, { path: `[${other}]`, ours: inShort(ours[other]), upstream: inShort(upstream[other]) }];
}

function inShort(answer: Answer | undefined): unknown {
  const body = answer?.body;
  const message = typeof body === "object" && body !== null && "message" in body ? body.message : body;
  return { status: answer?.status, message };
}

export function allows(allowed: AllowedDifference, found: FoundDifference): boolean {
  return (
    allowed.subject === found.subject &&
    new RegExp(allowed.input).test(found.input) &&
    new RegExp(allowed.path).test(found.path)
  );
}

export function describeDifference({ subject, input, path, ours, upstream }: FoundDifference): string {
  return `${subject}: ${input}\n    ${path}\n    ours     ${JSON.stringify(ours)}\n    upstream ${JSON.stringify(upstream)}`;
}
