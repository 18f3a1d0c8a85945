/** Matchers of alerts, in the form that the version of Alertmanager reads; pure. */
import { type Section, sorted } from "../generate/generation.ts";
import { isAtLeast, type Version } from "../generate/version.ts";
import type { Matcher } from "../kind/alertmanager-config.ts";

export interface Matched {
  readonly matchers: readonly string[];
  /** The older form: equal labels, and labels by regular expressions. */
  readonly match: Readonly<Record<string, string>>;
  readonly matchRegex: Readonly<Record<string, string>>;
}

/** Since this version, matchers are texts such as `severity=~"a|b"`. */
export function hasNewMatchers(version: Version): boolean {
  return isAtLeast(version, "0.22.0");
}

export function matched(version: Version, list: readonly Matcher[] | undefined): Matched {
  const isNew = hasNewMatchers(version);
  const all = list ?? [];
  const inNewForm = all.filter(({ matchType }) => isNew || matchType !== undefined);
  const older = all.filter((each) => !inNewForm.includes(each));
  const map = (matchers: readonly Matcher[]): Readonly<Record<string, string>> =>
    Object.fromEntries(matchers.map(({ name, value = "" }) => [name, value]));
  return {
    matchers: inNewForm.map(matcherText),
    match: map(older.filter(({ regex }) => regex !== true)),
    matchRegex: map(older.filter(({ regex }) => regex === true)),
  };
}

function matcherText({ name, value = "", matchType, regex }: Matcher): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
  return `${name}${matchType ?? (regex === true ? "=~" : "=")}"${escaped}"`;
}

export function namespaceMatcher(namespace: string): string {
  return matcherText({ name: "namespace", value: namespace, matchType: "=" });
}

/** Those lists and maps that have something. */
export function filledSection(
  lists: Readonly<Record<string, readonly string[] | Readonly<Record<string, string>>>>,
): Section {
  const entries = Object.entries(lists).filter(([, value]) => Object.keys(value).length > 0);
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key,
      Array.isArray(value) ? (value as readonly string[]) : (sorted(value as Readonly<Record<string, string>>) ?? {}),
    ]),
  );
}
