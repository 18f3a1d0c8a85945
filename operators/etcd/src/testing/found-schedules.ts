/**
 * What random schedules have found: each goes well since, and stays as a test under the name of what went
 * wrong. What takes its fix out stands beside it, so that `npm run found` can say whether it would still be
 * found.
 */
import type { Fault } from "setpoint/testing";

/** One place of a source; it occurs once in its file. */
export interface Edit {
  /** From the root of the repository on. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface FoundSchedule {
  readonly name: string;
  readonly story: string;
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** Takes the fix out. */
  readonly without: readonly Edit[];
}

const write = (write: string, nth: number): { by: string; write: string; nth: number } => ({ by: "etcd", write, nth });
const event = (event: string, nth: number): { by: string; event: string; nth: number } => ({ by: "etcd", event, nth });
const claim = (rank: number): { resource: string; rank: number } => ({ resource: "persistentvolumeclaims", rank });
const service = (rank: number): { resource: string; rank: number } => ({ resource: "services", rank });
const pod = (rank: number): { resource: string; rank: number } => ({ resource: "pods", rank });

const claimed = "POST default/persistentvolumeclaims/data-orders-*";
const made = "POST default/pods/orders-*";
const upgraded = "PATCH default/pods/orders-*";
const told = "POST default/events/orders.*";
const status = "PATCH default/etcdclusters/orders/status";

/** Where the fixes are. */
const actions = "operators/etcd/src/act/actions.ts";
const checks = "operators/etcd/src/act/checks.ts";
const seen = "operators/etcd/src/seen/seen.ts";
const injector = "packages/testing/src/faults/world-fault-injector.ts";
const runSchedule = "packages/testing/src/explore/run-schedule.ts";
const quorumGroup = "packages/testing/src/etcd/quorum-group.ts";

export const foundSchedules: readonly FoundSchedule[] = [
  {
    name: "a member is not restarted for an upgrade while another one is on its way out and the cache does not show it",
    story: "a cluster is upgraded",
    seed: 721_063,
    faults: [
      { kind: "E1", at: write(told, 5), child: pod(8) },
      { kind: "C5", at: event("pods", 21), forMs: 20_000 },
      { kind: "B5", at: write(upgraded, 3), status: 500, times: 3 },
    ],
    without: [{ file: checks, from: "fresh(Pod, name, cluster.metadata.namespace),", to: "member.pod," }],
  },
  {
    name: "an upgrade that a busy server has put off is decided again: another member may be down meanwhile",
    story: "a cluster is upgraded",
    seed: 913_566,
    faults: [
      { kind: "B5", at: write(upgraded, 2), status: 503, times: 2 },
      { kind: "E9", at: write(upgraded, 3), rank: 1, backMs: 120_000 },
    ],
    without: [{ file: actions, from: ", once: true }", to: " }" }],
  },
  {
    name: "a process that is to die on a node that is lost at the moment has died already: another one dies",
    story: "a member is replaced",
    seed: 9_662,
    faults: [
      { kind: "E9", at: write(status, 3), rank: 0, backMs: 120_000 },
      { kind: "D3", at: write(told, 3), forMs: 5_000 },
    ],
    without: [
      {
        file: "operators/etcd/src/testing/etcd-worlds.ts",
        from: "({ metadata }) => world.runs(metadata.name)",
        to: "() => true",
      },
    ],
  },
  {
    name: "a member is not restarted for an upgrade when another one has gone while the status before it had to wait",
    story: "a cluster is upgraded",
    seed: 69_159,
    faults: [
      { kind: "B5", at: write(status, 15), status: 429, times: 2 },
      { kind: "E9", at: write(status, 16), rank: 0, backMs: 120_000 },
    ],
    without: [
      { file: checks, from: 'if (podState(pod) !== "running") return `the pod of ${name} is stopping`;', to: "" },
      { file: checks, from: "status === undefined ? `${name} does not answer any more` : undefined", to: "undefined" },
    ],
  },
  {
    name: "a member is not restarted for an upgrade when another one has gone while the operator stood still",
    story: "a cluster is upgraded",
    seed: 20_840,
    faults: [
      { kind: "E1", at: write(told, 3), child: pod(17) },
      { kind: "D3", at: write(told, 3), forMs: 5000 },
    ],
    without: [{ file: checks, from: "tookMs > answersMsMax", to: "tookMs > Infinity" }],
  },
  {
    name: "who deletes a pod in the same moment in which another one is upgraded is no fault of the operator",
    story: "a cluster is upgraded",
    seed: 87_005,
    faults: [{ kind: "E1", at: write(told, 6), child: pod(13) }],
    without: [{ file: injector, from: 'if (child.kind === "Pod") this.#surprise();', to: "" }],
  },
  {
    name: "a founder that was started again on an empty volume before a quorum could say that it had joined is replaced",
    story: "a cluster starts",
    seed: 1_080,
    faults: [
      { kind: "B6", at: write(made, 3), forMs: 20_000 },
      { kind: "E1", at: write(made, 13), child: claim(9) },
      { kind: "E8", at: write(status, 6), rank: 18 },
    ],
    without: [{ file: seen, from: "(isGone || hasRefusedToRun(pod))", to: "isGone" }],
  },
  {
    name: "an operator that stood still and then crashed again and again may take as long as both take together",
    story: "a member is replaced",
    seed: 3_054_658,
    faults: [
      { kind: "D3", at: write(made, 3), forMs: 60_000 },
      { kind: "E1", at: write(status, 8), child: pod(4) },
      { kind: "A6", at: write("etcd promote *", 1), every: 3, times: 10 },
    ],
    without: [
      {
        file: runSchedule,
        from: "faults.reduce((sum, fault) => sum + delayBy(fault), 0)",
        to: "Math.max(0, ...faults.map(durationOf))",
      },
    ],
  },
  {
    name: "a member that fails at once is not started again without a pause when the operator's clock is an hour behind",
    story: "a cluster shrinks",
    seed: 102_769,
    faults: [
      { kind: "D4", at: write(told, 3), byMs: -3_600_000 },
      { kind: "E1", at: write(told, 5), child: pod(13) },
    ],
    without: [
      {
        file: "operators/etcd/src/observe/observe.ts",
        from: "failedForMs: troubledMs",
        to: 'failedForMs: Math.abs(context.host.clock.now() - Date.parse(member.pod?.status?.containerStatuses?.[0]?.state?.terminated?.finishedAt ?? ""))',
      },
    ],
  },
  {
    name: "a node that comes back after the last step is waited for",
    story: "a cluster starts",
    seed: 42_135,
    faults: [
      { kind: "C5", at: event("etcdclusters", 1), forMs: 20_000 },
      { kind: "E9", at: write(status, 5), rank: 2, backMs: 120_000 },
    ],
    without: [{ file: runSchedule, from: "while (!isOver());", to: "while (false);" }],
  },
  {
    name: "a person who takes the data of one member of two has to bring them back: no operator can",
    story: "a cluster grows",
    seed: 508_818,
    faults: [
      { kind: "E2", at: write(told, 1), child: service(19), own: false },
      { kind: "E1", at: write(told, 3), child: claim(12) },
      { kind: "E1", at: write(status, 10), child: pod(13) },
    ],
    without: [
      {
        file: "packages/testing/src/oracles/outcome-oracles.ts",
        from: "isBeyondRepair(models, faults) ? undefined : unsettled",
        to: "unsettled",
      },
    ],
  },
  {
    name: "a removal beside a member that joined while there was no majority is not asked for without end",
    story: "a member is replaced",
    seed: 187_208,
    faults: [
      { kind: "E2", at: write(told, 1), child: pod(10), own: false },
      { kind: "E1", at: write(status, 10), child: pod(16) },
      { kind: "E2", at: write("etcd add http://orders-*.orders.default.svc:2380", 1), child: service(2), own: true },
      { kind: "E9", at: write("etcd promote *", 1), rank: 1, backMs: 120_000 },
    ],
    without: [
      { file: actions, from: "waitsForStart(error) ? startRetryMs : membershipRetryMs", to: "membershipRetryMs" },
      {
        file: "packages/testing/src/etcd/etcd-member.ts",
        from: 'if (own?.name === "") this',
        to: 'if (own?.name === "" && this.#group?.hasQuorum === true) this',
      },
      { file: quorumGroup, from: "if (this.hasQuorum) for", to: "for" },
      { file: quorumGroup, from: "if (!this.hasQuorum) return;\n    for", to: "return peer.synced();\n    for" },
    ],
  },
  {
    name: "a member is replaced although another client has changed a port of a Service",
    story: "a member is replaced",
    seed: 141_002,
    faults: [{ kind: "E2", at: write(made, 4), child: service(15), own: true, of: "spec" }],
    without: [
      {
        file: "packages/data-service/src/members/apply-objects.ts",
        from: "else await patch(present, serviceRestoration(present, wanted), { unchanged: true });",
        to: "else await apply(wanted);",
      },
      {
        file: "packages/runtime/src/writes/child-writer.ts",
        from: "if (present === undefined || lists === undefined) throw refusal;",
        to: "throw refusal;",
      },
    ],
  },
  {
    name: "an upgrade that the server gets late, when a node has been lost meanwhile, is no fault of who sent it before",
    story: "a cluster is upgraded",
    seed: 183_573,
    faults: [
      { kind: "B5", at: write(upgraded, 1), status: 500, times: 2 },
      { kind: "B3", at: write(upgraded, 2), lateMs: 2_000 },
      { kind: "E9", at: write(upgraded, 3), rank: 1, backMs: 120_000 },
    ],
    without: [{ file: injector, from: "if (this.#surprisedMs >= sentMs) this.#surprise();", to: "" }],
  },
  {
    name: "founders that a quota refuses are tried again soon after another one could be made",
    story: "a cluster starts",
    seed: 191_258,
    faults: [
      { kind: "B6", at: write(made, 1), forMs: 20_000 },
      { kind: "B6", at: write(claimed, 3), forMs: 20_000 },
    ],
    without: [{ file: actions, from: "if (!isForbidden(error)) throw error;", to: "throw error;" }],
  },
  {
    name: "conflicts after a quota has refused for long are not waited for as long as that",
    story: "a cluster starts",
    seed: 196_988,
    faults: [
      { kind: "B6", at: write(made, 1), forMs: 20_000 },
      { kind: "B4", at: write(made, 2), times: 3 },
      { kind: "B4", at: write(made, 3), times: 3 },
    ],
    without: [
      {
        file: "packages/runtime/src/run/next-run.ts",
        from: "isConflict(error) ? conflictDelayMsMax : undefined",
        to: "undefined",
      },
    ],
  },
  {
    name: "a label of the PodDisruptionBudget that a user edits is restored",
    story: "a cluster with certificates starts",
    seed: 28_438,
    faults: [{ kind: "E2", at: write(told, 3), child: { resource: "poddisruptionbudgets", rank: 16 }, own: true }],
    without: [
      {
        file: "packages/data-service/src/members/disruption-budget.ts",
        from: "present.metadata.labels?.[label] === name &&",
        to: "",
      },
    ],
  },
];
