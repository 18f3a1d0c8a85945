/**
 * Each promise of a data service that would cost data or a login when it is broken, broken once in the source
 * itself. A test that is named here must fail then.
 */
import { postgresMutants } from "./postgres-mutants.ts";
import type { PromiseMutant } from "./promise-mutant.ts";

const dataService = "packages/data-service/src";
const etcd = "operators/etcd/src";
const explored = "tools/mutants/promises/explored.ts";
const restores = `${etcd}/etcd.restore.scenario.test.ts`;

export const promiseMutants: readonly PromiseMutant[] = [
  {
    id: "retention-by-name",
    bug: "the names of backups decide which of them are kept",
    file: `${dataService}/plan/retention.ts`,
    edits: [
      [
        "timeOf(b) - timeOf(a) || comparePositions(",
        '(b.metadata.name ?? "").localeCompare(a.metadata.name ?? "") || comparePositions(',
      ],
    ],
    test: `${dataService}/plan/retention.test.ts`,
    named: "keeps the newest by time, whatever the names are",
  },
  {
    id: "retention-by-text",
    bug: "positions are compared as texts, so that 9 is newer than 10",
    file: `${dataService}/plan/retention.ts`,
    edits: [
      [
        'comparePositions(b.status?.position ?? "", a.status?.position ?? "")',
        '(b.status?.position ?? "").localeCompare(a.status?.position ?? "")',
      ],
    ],
    test: `${dataService}/plan/retention.test.ts`,
    named: "compares positions as numbers",
  },
  {
    id: "retention-counts-failed",
    bug: "a failed backup counts, and pushes the last good one out",
    file: `${dataService}/plan/retention.ts`,
    edits: [["newestFirst(backups.filter(isGood))", "newestFirst(backups)"]],
    test: `${dataService}/plan/retention.test.ts`,
    named: "counts only verified backups",
  },
  {
    id: "restore-without-verification",
    bug: "a restore in place stops the instance before its source is verified",
    file: `${dataService}/restore/restore-steps.ts`,
    edits: [['const inPlace = ["Verifying", ', "const inPlace = ["]],
    test: restores,
    named: "from a damaged backup touches nothing",
  },
  {
    id: "restore-deletes-first",
    bug: "a restore in place deletes the present volumes instead of setting them aside",
    file: `${etcd}/act/restore-actions.ts`,
    edits: [
      [
        "for (const volume of restore.current) await annotate(volume, annotations, context);",
        "await deleteVolumes(restore.current, context);",
      ],
    ],
    test: restores,
    named: "keeps the volumes from before",
  },
  {
    id: "restore-never-goes-back",
    bug: "a restore in place that fails leaves the instance stopped",
    file: `${dataService}/restore/decide-restore.ts`,
    edits: [["if (isTouched && canGoBack)", "if (!isTouched && canGoBack)"]],
    test: restores,
    named: "goes back to the members from before",
  },
  {
    id: "rotation-drops-early",
    bug: "the old login is dropped as soon as a new one is recorded",
    file: `${dataService}/binding/plan-binding.ts`,
    edits: [
      [
        'state === "Retiring" && seen.remainingMs[user] === 0)',
        'state === "Retiring" && seen.remainingMs[user] !== undefined)',
      ],
    ],
    test: `${dataService}/binding/plan-binding.test.ts`,
    named: "when the overlap lasts",
  },
  {
    id: "rotation-without-proof",
    bug: "the old login is dropped although the new one is not proven",
    file: `${dataService}/binding/plan-binding.ts`,
    edits: [
      ["planPublished(seen) ?? planRestored(seen) ?? planRetired(seen)", "planRetired(seen) ?? planPublished(seen)"],
      [
        '|| published?.state !== "Active" || !seen.proven) return undefined;',
        "|| published === undefined) return undefined;",
      ],
    ],
    test: `${dataService}/binding/plan-binding.test.ts`,
    named: "and the new login does not work",
  },
  {
    id: "recovery-from-the-shortest-log",
    bug: "a lost quorum goes on from the survivor that has the least",
    file: `${etcd}/plan/quorum-loss.ts`,
    edits: [
      [
        "const index = (b.position?.raftIndex ?? 0) - (a.position?.raftIndex ?? 0);",
        "const index = (a.position?.raftIndex ?? 0) - (b.position?.raftIndex ?? 0);",
      ],
    ],
    test: `${etcd}/plan/plan-quorum.test.ts`,
    named: "the one that the status named has less",
  },
  {
    id: "recovery-by-name",
    bug: "a lost quorum goes on from the first survivor by name",
    file: `${etcd}/plan/quorum-loss.ts`,
    edits: [
      [
        "survivors: survivors.toSorted(byProgress)",
        "survivors: survivors.toSorted((x, y) => (x.name < y.name ? -1 : 1))",
      ],
    ],
    test: `${etcd}/etcd.quorum.scenario.test.ts`,
    named: "goes on from the survivor that has the most",
  },
  {
    id: "fenced-member-healed",
    bug: "a member that a user keeps stopped is started again like one whose pod was lost",
    file: `${etcd}/plan/plan-healing.ts`,
    edits: [
      [
        "if (member.listed === undefined || isHealthy(member) || isFenced(seen, member)) continue;",
        "if (member.listed === undefined || isHealthy(member)) continue;",
      ],
    ],
    test: `${etcd}/etcd.fencing.scenario.test.ts`,
    named: "is neither healed nor replaced",
  },
  {
    id: "fenced-quorum-recovered",
    bug: "a majority that a user fenced counts as lost, and the cluster goes on from one survivor",
    file: `${etcd}/plan/quorum-loss.ts`,
    edits: [["if (voters.some(({ name }) => seen.fencing.fenced.includes(name))) return undefined;", ""]],
    test: `${etcd}/plan/plan-fencing.test.ts`,
    named: "not lost for good with a fenced member",
  },
  {
    id: "fencing-forgets-acceptance",
    bug: "a member that was fenced with consent is decided about again, and starts when the consent is taken back",
    file: `${dataService}/fencing/decide-fencing.ts`,
    edits: [["isRecorded(name) && names.includes(name)", "isRecorded(name) && !names.includes(name)"]],
    test: explored,
    named: "a member stays fenced when the consent is taken back",
  },
  {
    id: "unfence-trusts-a-failed-reconcile",
    bug: "Unfence ends while its member is fenced still, because a status with an error has the new generation",
    file: `${dataService}/fencing/fence-operation.ts`,
    edits: [["if (member === allMembers ? fenced.length > 0 : fenced.includes(member)) return running;", ""]],
    test: explored,
    named: "Unfence ends when its member is released",
  },
  {
    id: "mirror-rolls-over",
    bug: "a new pod of a mirror starts before the old one has stopped",
    file: `${etcd}/mirror/mirror-deployment.ts`,
    edits: [['strategy: { type: "Recreate" }', 'strategy: { type: "RollingUpdate" }']],
    test: explored,
    named: "a rollout of a mirror stops the old pod first",
  },
  {
    id: "mirror-stops-for-a-login",
    bug: "a mirror is taken away while its destination gets a login",
    file: `${etcd}/mirror/mirror-controller.ts`,
    edits: [["if (connection.keepsPod !== true) await", "await"]],
    test: explored,
    named: "a mirror goes on while its cluster gets a login",
  },
  {
    id: "revocation-forgets-the-overlap",
    bug: "a binding that is deleted drops its newest user alone",
    file: `${dataService}/binding/service-bindings.ts`,
    edits: [
      [
        "for (const { user } of logins) await engine.users.dropUser",
        "for (const { user } of logins.slice(-1)) await engine.users.dropUser",
      ],
    ],
    test: explored,
    named: "a revoked binding leaves no login of its overlap",
  },
  {
    id: "revocation-before-a-late-creation",
    bug: "a binding that is deleted drops its users once, while the creation of one may be under way",
    file: `${dataService}/binding/service-bindings.ts`,
    edits: [["if (leftMs > 0 && logins.some(", "if (Number.isNaN(leftMs) && logins.some("]],
    test: explored,
    named: "a revoked binding leaves no user that was being created",
  },
  ...postgresMutants,
];

/** The source as the mutant has it; throws when a text is not there once. */
export function mutated(source: string, { id, file, edits }: PromiseMutant): string {
  return edits.reduce((text, [original, wrong]) => {
    const found = text.split(original).length - 1;
    if (found !== 1)
      throw new Error(`Cannot make mutant "${id}": ${file} has ${found} times ${original}, expected once`);
    return text.replace(original, () => wrong);
  }, source);
}
