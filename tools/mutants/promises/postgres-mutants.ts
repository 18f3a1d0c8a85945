/** The published bugs of operators of PostgreSQL, each made once in this one. */
import type { PromiseMutant } from "./promise-mutant.ts";

const postgres = "operators/postgres/src";
const lives = `${postgres}/postgres.scenario.test.ts`;
const timelines = `${postgres}/postgres.timelines.scenario.test.ts`;
const archive = "packages/data-service/src/archive";

export const postgresMutants: readonly PromiseMutant[] = [
  {
    id: "two-primaries-by-impatience",
    bug: "a replica is promoted before the lease of a primary that is cut off has ended",
    file: `${postgres}/plan/wanted.ts`,
    edits: [["return deniedMs >= (isHandingOver ? cleanStopMs : leaseOverMs);", "return deniedMs >= 0;"]],
    test: lives,
    named: "promotes nobody before the lease has ended",
  },
  {
    id: "two-primaries-by-endless-lease",
    bug: "a primary that is cut off from everybody goes on",
    file: `${postgres}/manager/primary-lease.ts`,
    edits: [["if (peers.length <= 1 || nowMs < this.#byOperatorUntilMs) return true;", "return true;"]],
    test: lives,
    named: "stops the commits of a primary that is cut off",
  },
  {
    id: "laggard-promoted",
    bug: "the best replica is promoted, however much it lacks",
    file: `${postgres}/plan/election.ts`,
    edits: [["if (lag > lagMax)", "if (Number.isNaN(lag))"]],
    test: lives,
    named: "is not promoted, and the primary comes back with everything",
  },
  {
    id: "laggard-elected",
    bug: "the replica with the shortest log is promoted",
    file: `${postgres}/plan/election.ts`,
    edits: [["compare: (one, other) => bytesBetween(other, one)", "compare: (one, other) => bytesBetween(one, other)"]],
    test: lives,
    named: "the replica that has the most becomes the primary",
  },
  {
    id: "former-primary-forgotten",
    bug: "a former primary with all data is back, and nobody is appointed",
    file: `${postgres}/plan/plan.ts`,
    edits: [["if (election.isBrief !== true && isBack(seen, formerPrimary))", "if (formerPrimary === undefined)"]],
    test: lives,
    named: "is not promoted, and the primary comes back with everything",
  },
  {
    id: "timeline-lost",
    bug: "a timeline counts only when its primary has reported it, so that two may have one number",
    file: `${postgres}/act/succession.ts`,
    edits: [["newest(lastTimeline, promotedTimeline(seen, to))", "newest(lastTimeline)"]],
    test: timelines,
    named: "leaves no second history of the same timeline",
  },
  {
    id: "rewind-before-checkpoint",
    bug: "a new primary writes no checkpoint, so that the former one finds nothing to rewind",
    file: `${postgres}/manager/instance-manager.ts`,
    edits: [['    await this.#parts.sql.run("checkpoint");\n    this.#message', "    this.#message"]],
    test: lives,
    named: "goes back by a rewind, and is not copied",
  },
  {
    id: "archive-overwritten",
    bug: "a segment of the same name from another history replaces the one in the archive",
    file: `${archive}/log-archive.ts`,
    edits: [
      ["present.some(({ sha256 }) => sha256 !== file.sha256)", "present.some(({ sha256 }) => sha256 === undefined)"],
    ],
    test: `${archive}/point-in-time.test.ts`,
    named: "another one under its name is refused, and the first stays",
  },
  {
    id: "target-before-the-backup",
    bug: "a restore to a time before the end of its backup is begun, and stops later",
    file: `${archive}/archive-window.ts`,
    edits: [["return fromMs <= ms && ms <= toMs;", "return ms <= toMs;"]],
    test: `${archive}/point-in-time.test.ts`,
    named: "a target before the end of the backup is refused",
  },
];
