/**
 * What an upgrade does to each file of a project: three texts in, a decision out. It never takes an author's
 * edit away.
 */
import { mergeJson } from "./merge-json.ts";
import type { MergedText } from "./merge-text.ts";

/** What becomes of one file. */
export type FileChange =
  | {
      readonly kind: "added" | "replaced" | "merged";
      readonly path: string;
      readonly text: string;
      readonly note?: string;
    }
  /** The file stays; what it would be is written beside it. */
  | { readonly kind: "conflict"; readonly path: string; readonly text: string; readonly note: string }
  | { readonly kind: "removed"; readonly path: string }
  | { readonly kind: "left"; readonly path: string; readonly note: string };

export interface UpgradePlan {
  readonly changes: readonly FileChange[];
  /**
   * The texts that the next upgrade starts from: those of files with conflicts are the old ones, so that it
   * asks again.
   */
  readonly base: ReadonlyMap<string, string>;
}

type Texts = ReadonlyMap<string, string>;
type Merge = (base: string, mine: string, theirs: string) => MergedText | undefined;

export function planUpgrade(before: Texts, present: Texts, next: Texts, merge: Merge): UpgradePlan {
  const paths = [...new Set([...before.keys(), ...next.keys()])];
  const changes = paths
    .map((path) => changeOf(path, before.get(path), present.get(path), next.get(path), merge))
    .filter((each) => each !== undefined);
  const base = new Map(next);
  for (const { kind, path } of changes) {
    const old = before.get(path);
    if (kind !== "conflict") continue;
    if (old === undefined) base.delete(path);
    else base.set(path, old);
  }
  return { changes, base };
}

function changeOf(
  path: string,
  base: string | undefined,
  mine: string | undefined,
  theirs: string | undefined,
  merge: Merge,
): FileChange | undefined {
  if (base === theirs || mine === theirs) return undefined;
  if (theirs === undefined) {
    if (mine === base) return { kind: "removed", path };
    return { kind: "left", path, note: "no longer part of the scaffold, and changed by you" };
  }
  if (mine === undefined) {
    if (base === undefined) return { kind: "added", path, text: theirs };
    return { kind: "left", path, note: "changed in the scaffold, and deleted by you" };
  }
  if (mine === base) return { kind: "replaced", path, text: theirs };
  if (base === undefined)
    return { kind: "conflict", path, text: theirs, note: "new in the scaffold, and here already" };
  return merged(path, base, mine, theirs, merge);
}

function merged(path: string, base: string, mine: string, theirs: string, merge: Merge): FileChange | undefined {
  const json = path.endsWith(".json") ? mergeJson(base, mine, theirs) : undefined;
  if (json !== undefined) {
    const note = json.conflicts.length === 0 ? {} : { note: `your own was kept: ${json.conflicts.join(", ")}` };
    return json.text === mine ? undefined : { kind: "merged", path, text: json.text, ...note };
  }
  const text = merge(base, mine, theirs);
  if (text === undefined) return { kind: "conflict", path, text: theirs, note: "changed here and in the scaffold" };
  if (!text.isClean)
    return { kind: "conflict", path, text: text.text, note: "the same lines have changed here and in the scaffold" };
  return text.text === mine ? undefined : { kind: "merged", path, text: text.text };
}
