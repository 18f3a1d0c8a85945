/**
 * Commits as links of a chain: each names the one before it by its checksum, and the state that it leaves.
 */
import { sumOf } from "./checksum.ts";

/** What identifies one commit, and the state after it. */
export interface CommitRecord {
  /** Commits are numbered without gaps. */
  readonly sequence: number;
  /** The store's revision after it. */
  readonly revision: number;
  /** How many objects there are after it. */
  readonly count: number;
  /** The checksum of all records after it. */
  readonly digest: string;
  /** The hash of the commit before it. */
  readonly previous: string;
  readonly hash: string;
}

type Unhashed = Omit<CommitRecord, "hash">;

function hashOf({ sequence, revision, count, digest, previous }: Unhashed): string {
  return sumOf([sequence, revision, count, digest, previous].join("\t"));
}

/** The commit with its hash. */
export function sealed(commit: Unhashed): CommitRecord {
  return { ...commit, hash: hashOf(commit) };
}

/** The commit of a store that was never written to. */
export const firstCommit: CommitRecord = sealed({
  sequence: 0,
  revision: 1,
  count: 0,
  digest: "0".repeat(32),
  previous: "0".repeat(32),
});

/** Whether `next` comes directly after `commit`. */
export function follows(next: CommitRecord, commit: CommitRecord): boolean {
  return next.sequence === commit.sequence + 1 && next.previous === commit.hash;
}

/** One line without its end. */
export function formatCommit(commit: CommitRecord): string {
  const { sequence, revision, count, digest, previous, hash } = commit;
  return [sequence, revision, count, digest, previous, hash].join("\t");
}

/** Absent when the text is no commit, or its hash is not that of its content. */
export function parseCommit(text: string): CommitRecord | undefined {
  const [sequence = "", revision = "", count = "", digest = "", previous = "", hash = "", ...more] = text.split("\t");
  const commit = {
    sequence: Number(sequence),
    revision: Number(revision),
    count: Number(count),
    digest,
    previous,
  };
  return more.length === 0 && hashOf(commit) === hash ? { ...commit, hash } : undefined;
}
