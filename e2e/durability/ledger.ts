import type { KubeObject } from "@setpoint/apimachinery";

/** What a key holds; undefined when there is no such object. */
export type Content = { readonly revision: number; readonly value: string } | undefined;

/** What a write that got no answer may have made of a key. */
type Attempt = { readonly value: string } | "deletion";

interface KeyState {
  readonly known: Content;
  readonly attempt?: Attempt;
}

/**
 * Everything that the API server has acknowledged or shown, and the checks that it never takes any of it
 * back.
 */
export class Ledger {
  readonly #keys = new Map<string, KeyState>();
  /** What each revision did, as first heard of, from an answer, a watch or a list. */
  readonly #revisions = new Map<number, string>();
  /** Acknowledged revisions, in the order in which the answers came. */
  readonly #acknowledged: number[] = [];
  #highest = 0;
  deletions = 0;
  /** Writes without an answer, by what turned out. */
  readonly unknown = { done: 0, notDone: 0 };

  get writes(): number {
    return this.#acknowledged.length;
  }

  /** No later write may get a revision that is not above this one. */
  get highest(): number {
    return this.#highest;
  }

  known(key: string): Content {
    return this.#keys.get(key)?.known;
  }

  /** `since` is `highest` as it was before the write was sent. */
  acknowledge(key: string, content: Content, since: number): void {
    this.#keys.set(key, { known: content });
    if (content === undefined) this.deletions++;
    else this.#acknowledgeRevision(key, content, since);
  }

  attempted(key: string, attempt: Attempt): void {
    this.#keys.set(key, { known: this.known(key), attempt });
  }

  /** Something that a watch or a list has shown. */
  saw(revision: number, what: string): void {
    const before = this.#revisions.get(revision);
    if (before !== undefined && before !== what)
      throw new Error(`Revision ${revision} was given twice: for "${before}" and for "${what}"`);
    this.#revisions.set(revision, what);
    this.#highest = Math.max(this.#highest, revision);
  }

  /** Compares with everything that is there after a restart. */
  check(present: ReadonlyMap<string, Content>): void {
    for (const key of new Set([...this.#keys.keys(), ...present.keys()])) this.#checkKey(key, present.get(key));
  }

  /** Acknowledged revisions after `from`, up to `to`, lowest first. */
  acknowledgedBetween(from: number, to: number): readonly number[] {
    return this.#acknowledged.filter((revision) => revision > from && revision <= to).sort((a, b) => a - b);
  }

  #acknowledgeRevision(key: string, content: NonNullable<Content>, since: number): void {
    const { revision, value } = content;
    if (revision <= since) throw new Error(`Revision ${revision} was given to "${key}" after ${since} had been seen`);
    this.saw(revision, describe(key, value));
    this.#acknowledged.push(revision);
  }

  #checkKey(key: string, present: Content): void {
    const { known, attempt } = this.#keys.get(key) ?? { known: undefined };
    const isAsKnown = present?.revision === known?.revision && present?.value === known?.value;
    const isAsAttempted =
      attempt === "deletion"
        ? present === undefined
        : attempt !== undefined && present?.value === attempt.value && present.revision > (known?.revision ?? 0);
    if (!isAsKnown && !isAsAttempted) throw new Error(mismatch(key, present, known, attempt));
    if (attempt !== undefined) this.unknown[isAsAttempted ? "done" : "notDone"]++;
    if (present !== undefined) this.saw(present.revision, describe(key, present.value));
    this.#keys.set(key, { known: present });
  }
}

/** What a revision did, in one word for all who tell of it. */
export function describe(key: string, value: string | undefined): string {
  return value === undefined ? `${key} deleted` : `${key} = ${value}`;
}

export function revisionOf({ metadata }: KubeObject): number {
  return Number(metadata.resourceVersion);
}

function mismatch(key: string, present: Content, known: Content, attempt: Attempt | undefined): string {
  const say = (content: Content): string =>
    content === undefined ? "absent" : `"${content.value}" at ${content.revision}`;
  const may = attempt === undefined ? "" : `, or after ${JSON.stringify(attempt)}`;
  return `"${key}" is ${say(present)} after the restart, acknowledged was ${say(known)}${may}`;
}
