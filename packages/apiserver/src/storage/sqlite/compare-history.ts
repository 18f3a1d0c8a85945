/**
 * Compares the head of the database with the log and the mark: which commits to apply, and which are lost.
 */
import { type CommitRecord, follows } from "./commit-record.ts";
import type { LoggedCommit, LogContents } from "./read-log.ts";
import { newestOf, type Witnesses } from "./store-files.ts";

export interface HistoryComparison {
  /** What is wrong, a sentence each. Empty: the database is at the newest commit once `replay` is applied. */
  readonly findings: readonly string[];
  /** Commits that the log has and the database lacks. */
  readonly replay: readonly LoggedCommit[];
  /** Why the log has to be written again, when it has; nothing is lost with it. */
  readonly logReplaced: string | undefined;
}

const damage = (...findings: readonly string[]): HistoryComparison => ({
  findings,
  replay: [],
  logReplaced: undefined,
});
const newest = (logReplaced?: string): HistoryComparison => ({ findings: [], replay: [], logReplaced });

export function compareHistory(head: CommitRecord | undefined, witnesses: Witnesses): HistoryComparison {
  if (head === undefined) return damage("state.db: its head record is missing or damaged");
  const { log, mark } = witnesses;
  const target = newestOf(log?.newest, mark);
  if (log === undefined) return withoutLog(head, mark);
  const last = log.commits.at(-1)?.commit ?? log.base;
  if (target !== undefined && target.hash === head.hash && last?.hash !== head.hash)
    return newest("state.log was damaged or old");
  if (last === undefined)
    return damage("state.log: its first line is damaged, and nothing else tells the newest revision");
  if (head.sequence > last.sequence) return beyondLog(head, last, log, target);
  const known = [log.base, ...log.commits.map(({ commit }) => commit)].find((each) => each?.sequence === head.sequence);
  if (known === undefined)
    return damage("state.db is older than the first line of state.log", ...lost(head, last, log));
  if (known.hash !== head.hash) return damage(`state.db and state.log differ at revision ${head.revision}`);
  const replay = log.commits.filter(({ commit }) => commit.sequence > head.sequence);
  if (target !== undefined && target.sequence > last.sequence) return damage(...lost(last, target, log));
  return {
    findings: [],
    replay,
    logReplaced: log.damagedLine === undefined ? undefined : `state.log was damaged at line ${log.damagedLine}`,
  };
}

function withoutLog(head: CommitRecord, mark: CommitRecord | undefined): HistoryComparison {
  if (mark?.hash === head.hash) return newest("state.log was missing");
  const missing = "state.log is missing";
  if (mark !== undefined && mark.sequence > head.sequence) return damage(missing, missingRevisions(head, mark));
  return damage(`${missing}: revisions after ${head.revision} may be lost`);
}

/** The database has a commit that the log has not finished: the process ended in between. */
function beyondLog(
  head: CommitRecord,
  last: CommitRecord,
  log: LogContents,
  target: CommitRecord | undefined,
): HistoryComparison {
  if (target !== undefined && target.sequence > head.sequence) return damage(...lost(head, target, log));
  if (follows(head, last)) return newest("state.log lacked the newest commit");
  const sentence = `state.log ends at revision ${last.revision}, state.db at ${head.revision}`;
  return damage(`${sentence}: it cannot be known whether later revisions are lost`);
}

function lost(from: CommitRecord, to: CommitRecord, log: LogContents): readonly string[] {
  const line = log.damagedLine === undefined ? [] : [`state.log is damaged at line ${log.damagedLine}`];
  const touched = [...log.stray, ...log.commits.flatMap(({ changes }) => changes)].filter(
    ({ revision }) => revision > from.revision && revision <= to.revision,
  );
  const objects = touched.map(({ prefix, path, revision }) => `${prefix}/${path}: revision ${revision} is missing`);
  return [missingRevisions(from, to), ...line, ...objects];
}

function missingRevisions(from: CommitRecord, to: CommitRecord): string {
  const range =
    from.revision + 1 === to.revision ? `revision ${to.revision}` : `revisions ${from.revision + 1} to ${to.revision}`;
  return `${range} acknowledged, but missing in state.db`;
}
