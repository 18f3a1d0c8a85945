import { describe, expect, test } from "vitest";
import { instanceClaim, instancePod, isTemplateAsWanted, templateText } from "../kind/instance-pod.ts";
import { labels } from "../kind/labels.ts";
import { denialOf, silenceOf, termOf, wakingMatter } from "../seen/matters.ts";
import type { Seen, SeenInstance } from "../seen/seen.ts";
import { plan, rules } from "./plan.ts";
import type { PostgresStep } from "./postgres-step.ts";
import { cluster, nowMs, primary, replica, seen } from "./situation.fixture.ts";

/** Their table is in upgrade/plan-upgrade.test.ts. */
const upgradeRules = ["upgrade that holds the instances", "upgrade"];

/** `depose orders-1`, `wait`, `rest`: an action with its arguments. */
function shown(step: PostgresStep): string {
  if (step.kind !== "act") return step.kind;
  const values = Object.values(step.args).flat().map(String);
  return [step.action, ...values].join(" ");
}

const [a, b, c] = ["orders-1", "orders-2", "orders-3"] as const;
const silentFor = (ms: number, termMs = 60_000): Partial<Seen> => ({
  memory: { since: { [silenceOf(primary(a, { report: "silent" }))]: nowMs - ms, [termOf(3)]: nowMs - termMs } },
});
const handover = { primary: undefined, formerPrimary: a, term: 4, handover: "failover" } as const;
const between = (more = {}): Partial<Seen> => ({ cluster: cluster({}, { ...handover, ...more }) });
const stopped = { term: 4, server: "stopped", isPrimary: undefined } as const;
const waiting = { term: 4, isStreaming: false } as const;
const pending = { pendingRestart: ["max_connections"], startedAt: "17", limits: { max_connections: 100 } } as const;
const lower = cluster({ parameters: { max_connections: "50" } });
const refusing = { settingErrors: ["spec.parameters[work_mem]: invalid value"] };
const synchronous = { number: 1, durability: "required" } as const;

function withLabel(instance: SeenInstance, label: string, value: string): SeenInstance {
  const { pod } = instance;
  if (pod === undefined) return instance;
  return {
    ...instance,
    pod: { ...pod, metadata: { ...pod.metadata, labels: { ...pod.metadata.labels, [label]: value } } },
  };
}

function withLeavingVolume(instance: SeenInstance): SeenInstance {
  const { claim } = instance;
  if (claim === undefined) return instance;
  return {
    ...instance,
    claim: { ...claim, metadata: { ...claim.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } },
  };
}

const claimless = (name: string): SeenInstance => primary(name, { pod: "missing", claim: "none" });
const gone = (name: string): SeenInstance => replica(name, { pod: "missing" });
const asleep = (spec: boolean, state: "Hibernating" | "Hibernated" | "Waking"): Partial<Seen> => ({
  cluster: cluster({ hibernated: spec }, { hibernation: { state, since: "2026-01-01T00:00:00Z" } }),
});
const fencingOfStatus = (
  names: readonly string[],
): { members: { name: string; state: "Stopped"; since: string }[] } => ({
  members: names.map((name) => ({ name, state: "Stopped", since: "2026-01-01T00:00:00Z" })),
});
/** What was recorded before stays fenced. */
const fence = (members: string[], recorded: readonly string[] = []): Partial<Seen> => ({
  cluster: cluster(
    { fencing: { members, allowQuorumLoss: false } },
    recorded.length === 0 ? {} : { fencing: fencingOfStatus(recorded) },
  ),
});
const halted = { server: "stopped", isPrimary: undefined, isStreaming: undefined } as const;
const fencedReplica = (name: string): SeenInstance => replica(name, { report: halted, ready: false, label: "none" });
const fencedPrimary = primary(a, { report: halted, ready: false, label: "none" });
const following = (each: SeenInstance): SeenInstance => ({
  ...each,
  report: each.report === undefined ? undefined : { ...each.report, follows: "before" },
});
const wakingFor = (ms: number): Partial<Seen> => ({ memory: { since: { [wakingMatter]: nowMs - ms } } });

const rows: readonly (readonly [rule: string, situation: string, seen: Seen, step: string])[] = [
  ["", "all is well", seen([primary(a), replica(b), replica(c)]), "rest"],
  [
    "paused",
    "paused, without a primary",
    seen([primary(a, { pod: "ended" }), replica(b)], { cluster: cluster({ paused: true }) }),
    "rest",
  ],
  [
    "refused before the first start",
    "a refused parameter in a new cluster",
    seen([primary(a, { pod: "missing" })], {
      cluster: cluster({}, { term: undefined, primary: undefined, systemID: undefined }),
      refusals: [{ field: "spec.parameters[port]", why: "fixed" }],
    }),
    "wait",
  ],
  [
    "",
    "a refused parameter in a running cluster",
    seen([primary(a), replica(b), replica(c)], { refusals: [{ field: "f", why: "w" }] }),
    "rest",
  ],
  ["a Service is taken", "a Service of another owner", seen([primary(a)], { serviceTaken: "orders-rw" }), "wait"],
  ["the login is taken", "a Secret of another owner", seen([primary(a)], { loginTaken: "orders-app" }), "wait"],
  [
    "certificates",
    "a certificate is due",
    seen([primary(a)], {
      certificates: { due: { step: "issue", why: "old" }, trusts: [] } as unknown as Seen["certificates"],
    }),
    "maintainCertificates",
  ],
  [
    "login",
    "no login of the application",
    seen([primary(a), replica(b), replica(c)], { hasLogin: false }),
    "createLogin",
  ],
  [
    "Services",
    "a Service is missing",
    seen([primary(a), replica(b), replica(c)], { servicesToApply: ["orders-rw"] }),
    "applyServices orders-rw",
  ],
  [
    "disruption budget",
    "the budget was changed",
    seen([primary(a), replica(b), replica(c)], { needsBudget: true }),
    "applyBudget",
  ],
  [
    "restore",
    "a new cluster waits for the data of a restore",
    seen([primary(a, { pod: "missing", claim: "none" })], {
      cluster: cluster({}, { term: undefined, primary: undefined, systemID: undefined }),
      restore: { id: "r1", state: "waiting" },
    }),
    "wait",
  ],
  [
    "restore",
    "a restore in place stops all instances",
    seen([primary(a), replica(b), replica(c, { pod: "leaving" })], { restore: { id: "r1", state: "stop" } }),
    `stopInstances ${a} ${b}`,
  ],
  [
    "restore",
    "all have stopped, and stay so",
    seen([primary(a, { pod: "missing" }), replica(b, { pod: "missing" })], { restore: { id: "r1", state: "stop" } }),
    "wait",
  ],
  [
    "restore",
    "the prepared data take the place of the present ones",
    seen([primary(a, { pod: "missing" }), replica(b, { pod: "missing" })], { restore: { id: "r1", state: "start" } }),
    `startRestored r1 ${a}`,
  ],
  [
    "restore",
    "the prepared volume is gone: nothing starts on an empty one",
    seen([primary(a, { pod: "missing", claim: "none" })], {
      cluster: cluster({}, { restored: "r1", systemID: undefined }),
      restore: { id: "r1", state: "start" },
    }),
    "wait",
  ],
  [
    "missing instances",
    "the first instance starts on the restored data",
    seen([primary(a, { pod: "missing" })], {
      cluster: cluster({}, { restored: "r1", systemID: undefined }),
      restore: { id: "r1", state: "start" },
    }),
    `startInstances ${a}`,
  ],
  [
    "restore",
    "a restore is taken back: the instances on its data stop",
    seen([primary(a)], {
      cluster: cluster({}, { restored: "r1", previousData: { primary: b } }),
      restore: { id: "r1", state: "back" },
    }),
    `stopInstances ${a}`,
  ],
  [
    "restore",
    "and the volumes from before return",
    seen([primary(a, { pod: "missing" })], {
      cluster: cluster({}, { restored: "r1", previousData: { primary: b } }),
      restore: { id: "r1", state: "back" },
    }),
    "goBack r1",
  ],
  [
    "",
    "it has gone back already",
    seen([primary(a), replica(b), replica(c)], { restore: { id: "r1", state: "back" } }),
    "rest",
  ],
  [
    "restore",
    "the volumes from before are deleted at the end",
    seen([primary(a), replica(b), replica(c)], {
      cluster: cluster({}, { restored: "r1" }),
      restore: { id: "r1", state: "done" },
      otherClaims: [instanceClaim(cluster(), a, undefined)],
    }),
    "deleteClaims data-orders-1",
  ],
  [
    "first primary",
    "a new cluster",
    seen([primary(a, { pod: "missing", claim: "none" })], {
      cluster: cluster({}, { term: undefined, primary: undefined, systemID: undefined }),
    }),
    `appoint ${a}`,
  ],
  [
    "failed primary",
    "the primary's process ended",
    seen([primary(a, { pod: "ended" }), replica(b), replica(c)]),
    `depose ${a} failover`,
  ],
  [
    "failed primary",
    "the primary's pod is gone",
    seen([primary(a, { pod: "missing" }), replica(b), replica(c)]),
    `depose ${a} failover`,
  ],
  [
    "failed primary",
    "the primary's pod is being deleted",
    seen([primary(a, { pod: "leaving" }), replica(b), replica(c)]),
    `depose ${a} failover`,
  ],
  [
    "failed primary",
    "a silent primary, after 4 s",
    seen([primary(a, { report: "silent" }), replica(b), replica(c)], silentFor(4_000)),
    `depose ${a} failover`,
  ],
  [
    "waiting for the primary",
    "a silent primary, after 3 s",
    seen([primary(a, { report: "silent" }), replica(b), replica(c)], silentFor(3_000)),
    "wait",
  ],
  [
    "waiting for the primary",
    "a silent primary, after 15 s of its first minute",
    seen([primary(a, { report: "silent" }), replica(b), replica(c)], silentFor(15_000, 59_000)),
    "wait",
  ],
  [
    "failed primary",
    "a silent primary, after 16 s of its first minute",
    seen([primary(a, { report: "silent" }), replica(b), replica(c)], silentFor(16_000, 59_000)),
    `depose ${a} failover`,
  ],
  [
    "waiting for the primary",
    "the primary's process ended, and no replica answers",
    seen([primary(a, { pod: "ended" }), replica(b, { report: "silent" }), replica(c, { report: "silent" })]),
    "wait",
  ],
  [
    "waiting for the primary",
    "an appointed replica is being promoted",
    seen([replica(a, { label: "replica" }), replica(b), replica(c)]),
    "wait",
  ],
  [
    "missing instances",
    "a replica's pod is gone",
    seen([primary(a), replica(b), replica(c, { pod: "missing" })]),
    `startInstances ${c}`,
  ],
  [
    "missing instances",
    "the only instance's pod is gone",
    seen([primary(a, { pod: "missing" })], { cluster: cluster({ instances: 1 }) }),
    `startInstances ${a}`,
  ],
  [
    "roles in labels",
    "a replica has the primary's label",
    seen([primary(a), replica(b, { label: "primary" }), replica(c)]),
    `relabel ${b}`,
  ],
  [
    "",
    "one missing answer takes the primary out of no Service",
    seen([primary(a, { report: "silent" }), replica(b), replica(c)]),
    "wait",
  ],
  [
    "roles in labels",
    "a user has changed the label by which Services find a replica",
    seen([primary(a), withLabel(replica(b), labels.cluster, "edited"), replica(c)]),
    `relabel ${b}`,
  ],
  [
    "roles in labels",
    "a replica that starts serves nobody",
    seen([primary(a), replica(b), replica(c, { report: { server: "starting", isPrimary: undefined } })]),
    `relabel ${c}`,
  ],
  [
    "roles in labels",
    "between two primaries none has the label",
    seen([primary(a, { report: stopped }), replica(b, { report: waiting })], between()),
    `relabel ${a}`,
  ],
  [
    "handover",
    "the others must learn that the primary was deposed",
    seen(
      [
        primary(a, { report: "silent", label: "replica" }),
        replica(b, { report: { follows: "old" } }),
        replica(c, { report: waiting }),
      ],
      between(),
    ),
    `instruct ${b}`,
  ],
  [
    "handover",
    "the former primary may still accept writes",
    seen(
      [
        primary(a, { report: "silent", label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: waiting }),
      ],
      between(),
    ),
    "wait",
  ],
  [
    "handover",
    "a majority has denied the lease for long enough",
    seen(
      [
        primary(a, { report: "silent", label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: waiting }),
      ],
      {
        ...between(),
        memory: { since: { [denialOf(4)]: nowMs - 7_000 } },
      },
    ),
    `appoint ${b}`,
  ],
  [
    "handover",
    "the former primary still hands over the rest of its log",
    seen(
      [
        replica(a, { report: { term: 4, server: "stopping", isPrimary: true }, label: "none" }),
        replica(b, { report: waiting }),
        replica(c, { report: waiting }),
      ],
      { ...between(), memory: { since: { [denialOf(4)]: nowMs - 20_000 } } },
    ),
    "wait",
  ],
  [
    "handover",
    "the replica that received the most takes over",
    seen(
      [
        primary(a, { pod: "ended", label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: { ...waiting, position: "0/5000100" } }),
      ],
      between(),
    ),
    `appoint ${c}`,
  ],
  [
    "handover",
    "a replica still receives from the former primary",
    seen(
      [
        primary(a, { pod: "ended", label: "replica" }),
        replica(b, { report: { term: 4 } }),
        replica(c, { report: waiting }),
      ],
      between(),
    ),
    "wait",
  ],
  [
    "handover",
    "the former primary was appointed before, and its promotion may be under way",
    seen(
      [
        replica(a, { report: { term: 4 }, label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: waiting }),
      ],
      between(),
    ),
    "wait",
  ],
  [
    "handover",
    "the former primary was appointed before and never promoted, and another replica follows it",
    seen(
      [
        replica(a, { report: { ...waiting, position: "0/5000100" }, label: "replica" }),
        replica(b, { report: { term: 4 } }),
        replica(c, { report: waiting }),
      ],
      { ...between(), memory: { since: { [denialOf(4)]: nowMs - 7_000 } } },
    ),
    `appoint ${a}`,
  ],
  [
    "handover",
    "the process of the former primary ended, and an instance that may still confirm a new one does not answer",
    seen(
      [
        primary(a, { pod: "ended", label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: "silent" }),
      ],
      between(),
    ),
    "wait",
  ],
  [
    "handover",
    "no replica has reached the timeline of the former primary, whose volume is there",
    seen(
      [
        primary(a, { pod: "ended", label: "none" }),
        replica(b, { report: { ...waiting, timeline: 1 } }),
        replica(c, { report: { ...waiting, timeline: 1 } }),
      ],
      between({ lastTimeline: 2 }),
    ),
    "wait",
  ],
  [
    "handover",
    "and is promoted when that volume has been given up",
    seen(
      [
        primary(a, { pod: "ended", label: "none", claim: "none" }),
        replica(b, { report: { ...waiting, timeline: 1 } }),
        replica(c, { report: { ...waiting, timeline: 1 } }),
      ],
      between({ lastTimeline: 2 }),
    ),
    `appoint ${b}`,
  ],
  [
    "handover",
    "a replica of an older timeline is behind, however long its log",
    seen(
      [
        primary(a, { pod: "ended", label: "replica" }),
        replica(b, { report: { ...waiting, timeline: 2 } }),
        replica(c, { report: { ...waiting, timeline: 1, position: "0/6000000" } }),
      ],
      between(),
    ),
    `appoint ${b}`,
  ],
  [
    "handover",
    "a replica of other data is no candidate",
    seen(
      [primary(a, { pod: "ended", label: "replica" }), replica(b, { report: { ...waiting, systemId: "88" } })],
      between(),
    ),
    "wait",
  ],
  [
    "handover",
    "a replica that lacks too much is not promoted",
    seen(
      [primary(a, { pod: "ended", label: "replica" }), replica(b, { report: waiting })],
      between({ lastPosition: "0/7000000" }),
    ),
    "wait",
  ],
  [
    "handover",
    "the appointment names what may be lost",
    seen(
      [primary(a, { pod: "ended", label: "replica" }), replica(b, { report: waiting })],
      between({ lastPosition: "0/5000400" }),
    ),
    `appoint ${b} 1024 bytes of the log`,
  ],
  [
    "handover",
    "with synchronous replication too few replicas answer",
    seen(
      [
        primary(a, { pod: "ended", label: "replica" }),
        replica(b, { report: waiting }),
        replica(c, { report: "silent" }),
      ],
      {
        cluster: cluster({ synchronous }, handover),
      },
    ),
    "wait",
  ],
  [
    "handover",
    "a switchover goes to the candidate, which has everything",
    seen(
      [
        replica(a, { report: stopped, label: "none" }),
        replica(b, { report: waiting }),
        replica(c, { report: waiting }),
      ],
      between({ handover: "switchover", candidate: c }),
    ),
    `appoint ${c}`,
  ],
  [
    "handover",
    "nobody can take over, and the former primary has the data",
    seen([primary(a, { report: stopped, label: "none" }), replica(b, { report: "silent" })], between()),
    `appoint ${a}`,
  ],
  [
    "handover",
    "the best replica lacks too much, and the former primary is back",
    seen(
      [primary(a, { report: stopped, label: "none" }), replica(b, { report: waiting })],
      between({ lastPosition: "0/7000000" }),
    ),
    `appoint ${a}`,
  ],
  [
    "handover",
    "too few replicas answer for synchronous replication, and the former primary is back",
    seen(
      [
        primary(a, { report: stopped, label: "none" }),
        replica(b, { report: waiting }),
        replica(c, { report: "silent" }),
      ],
      { cluster: cluster({ synchronous }, handover) },
    ),
    `appoint ${a}`,
  ],
  [
    "handover",
    "the former primary is back with other data",
    seen(
      [primary(a, { report: { ...stopped, systemId: "78" }, label: "none" }), replica(b, { report: waiting })],
      between({ lastPosition: "0/7000000" }),
    ),
    "wait",
  ],
  [
    "instructions",
    "a replica follows another document",
    seen([primary(a), replica(b, { report: { follows: "old" } }), replica(c)]),
    `instruct ${b}`,
  ],
  [
    "volumes that are being deleted",
    "a user deletes the volume of a replica",
    seen([primary(a), replica(b), withLeavingVolume(replica(c))]),
    `restartInstance ${c}`,
  ],
  [
    "volumes that are being deleted",
    "a user deletes the volume of the primary",
    seen([withLeavingVolume(primary(a)), replica(b), replica(c)]),
    `depose ${a} switchover ${b}`,
  ],
  [
    "",
    "a user deletes the volume of the only instance, which keeps its data while it runs",
    seen([withLeavingVolume(primary(a))], { cluster: cluster({ instances: 1 }) }),
    "rest",
  ],
  [
    "waiting for replicas",
    "an instance without a pod, whose volume is not gone yet",
    seen([primary(a), replica(b), withLeavingVolume(replica(c, { pod: "missing" }))]),
    "wait",
  ],
  [
    "waiting for replicas",
    "a replica does not receive",
    seen([primary(a), replica(b, { report: { isStreaming: false } }), replica(c)]),
    "wait",
  ],
  [
    "switchover on request",
    "a user asks for a replica",
    seen([primary(a), replica(b), replica(c)], { cluster: cluster({}, {}, { [labels.switchover]: b }) }),
    `depose ${a} switchover ${b}`,
  ],
  [
    "switchover on request",
    "a user asks for what is no replica",
    seen([primary(a), replica(b), replica(c)], { cluster: cluster({}, {}, { [labels.switchover]: "orders-9" }) }),
    "forgetRequest orders-9 is no replica of this cluster that follows the primary; use one of orders-2, orders-3",
  ],
  [
    "surplus instances",
    "one instance too many",
    seen([primary(a), replica(b), replica(c)], { cluster: cluster({ instances: 2 }) }),
    `removeInstance ${c}`,
  ],
  [
    "surplus instances",
    "the primary is the one too many",
    seen([replica(a), replica(b), primary(c)], { cluster: cluster({ instances: 2 }, { primary: c }) }),
    `depose ${c} switchover ${a}`,
  ],
  [
    "volumes",
    "a volume is smaller than wanted",
    seen([primary(a), replica(b), replica(c, { claim: "512Mi" })]),
    `growVolume ${c} 1Gi`,
  ],
  [
    "dry run before the first start",
    "a dry run of a new cluster",
    seen([], { cluster: cluster({ dryRun: true }, { term: undefined, primary: undefined, systemID: undefined }) }),
    "wait",
  ],
  [
    "instances out of reach",
    "a plan on a machine that reaches no pods",
    seen([primary(a, { report: "silent" }), replica(b, { report: "silent" })], {
      ...silentFor(60_000),
      isOutOfReach: true,
    }),
    "wait",
  ],
  [
    "dry run",
    "a dry run does nothing that only the spec asks for",
    seen([primary(a), replica(b), replica(c)], { asked: cluster({ instances: 2, dryRun: true }).spec }),
    "wait",
  ],
  [
    "pods",
    "a new image: replicas first, whatever waits for a restart",
    seen([primary(a, { template: "old" }), replica(b, { template: "old" }), replica(c, { report: pending })]),
    `restartInstance ${b}`,
  ],
  [
    "pods",
    "a new image: it may bring what present settings lack",
    seen([primary(a, { report: refusing }), replica(b, { template: "old" })]),
    `restartInstance ${b}`,
  ],
  [
    "pods",
    "a new image: the primary hands over before its pod is made again",
    seen([primary(a, { template: "old" }), replica(b), replica(c)]),
    `depose ${a} switchover ${b}`,
  ],
  [
    "pods",
    "a new image of the only instance",
    seen([primary(a, { template: "old" })], { cluster: cluster({ instances: 1 }) }),
    `restartInstance ${a}`,
  ],
  [
    "pods",
    "a new image outside of the maintenance window",
    seen([primary(a), replica(b, { template: "old" })], { closed: "the next maintenance window opens tomorrow" }),
    "wait",
  ],
  [
    "stopped with older settings",
    "a replica does not start with an image that is no longer wanted",
    seen([primary(a), replica(b, { pod: "starting", template: "old", label: "none" })]),
    `restartInstance ${b}`,
  ],
  [
    "settings that are being read",
    "a setting waited for a restart, and has been taken back in the document",
    seen([primary(a, { report: pending }), replica(b, { report: { ...pending, hasReadSettings: false } })]),
    "wait",
  ],
  [
    "settings that PostgreSQL refuses",
    "a refused value, and another one that waits: nothing restarts",
    seen([primary(a, { report: refusing }), replica(b, { report: pending })]),
    "wait",
  ],
  [
    "surplus instances",
    "a refused value holds nothing else up",
    seen([primary(a, { report: refusing }), replica(b), replica(c)], { cluster: cluster({ instances: 2 }) }),
    `removeInstance ${c}`,
  ],
  [
    "settings",
    "a setting waits for a restart: replicas first",
    seen([primary(a, { report: pending }), replica(b, { report: pending }), replica(c, { report: pending })]),
    `restartServer ${c} 17`,
  ],
  [
    "settings",
    "a setting waits for a restart outside of the maintenance window",
    seen([primary(a), replica(b, { report: pending })], { closed: "the next maintenance window opens tomorrow" }),
    "wait",
  ],
  [
    "settings",
    "its server is stopping already",
    seen([primary(a), replica(b, { report: { ...pending, isRestarting: true } })]),
    "wait",
  ],
  [
    "settings",
    "only the primary is left: it hands over",
    seen([primary(a, { report: pending }), replica(b), replica(c)]),
    `depose ${a} switchover ${b}`,
  ],
  [
    "settings",
    "only the primary is left, and its user wants no other one",
    seen([primary(a, { report: pending }), replica(b)], { cluster: cluster({ primaryUpdate: "restart" }) }),
    `restartServer ${a} 17`,
  ],
  [
    "settings",
    "the only instance",
    seen([primary(a, { report: pending })], { cluster: cluster({ instances: 1 }) }),
    `restartServer ${a} 17`,
  ],
  [
    "settings",
    "a limit becomes lower: the primary first, in place",
    seen([primary(a, { report: pending }), replica(b), replica(c)], { cluster: lower }),
    `restartServer ${a} 17`,
  ],
  [
    "settings",
    "a limit becomes lower and another setting waits everywhere: replicas come before the primary",
    seen([primary(a, { report: pending }), replica(b, { report: pending })], { cluster: lower }),
    `restartServer ${b} 17`,
  ],
  [
    "",
    "a primary that restarts for settings is not replaced",
    seen(
      [
        primary(a, { report: { server: "stopped", isPrimary: undefined, isRestarting: true }, label: "none" }),
        replica(b),
      ],
      silentFor(10_000),
    ),
    "wait",
  ],
  [
    "failed primary",
    "a primary that restarts for settings and does not come back",
    seen(
      [
        primary(a, { report: { server: "stopped", isPrimary: undefined, isRestarting: true }, label: "none" }),
        replica(b),
      ],
      silentFor(60_000),
    ),
    `depose ${a} failover`,
  ],
  [
    "hibernation",
    "a cluster is to hibernate: replicas first",
    seen([primary(a), replica(b), replica(c)], { cluster: cluster({ hibernated: true }) }),
    `stopInstances ${b} ${c}`,
  ],
  [
    "hibernation",
    "a replica is still stopping",
    seen([primary(a), gone(b), replica(c, { pod: "leaving" })], asleep(true, "Hibernating")),
    "wait",
  ],
  [
    "hibernation",
    "the primary last",
    seen([primary(a), gone(b), gone(c)], asleep(true, "Hibernating")),
    `stopInstances ${a}`,
  ],
  [
    "hibernation",
    "a primary that does not serve stops, too",
    seen([primary(a, { pod: "ended" }), gone(b)], asleep(true, "Hibernating")),
    `stopInstances ${a}`,
  ],
  ["hibernation", "all have stopped", seen([gone(a), gone(b), gone(c)], asleep(true, "Hibernating")), "hibernated"],
  ["hibernation", "it hibernates", seen([gone(a), gone(b), gone(c)], asleep(true, "Hibernated")), "rest"],
  [
    "handover",
    "a change of the primary ends before the cluster hibernates",
    seen([primary(a, { report: stopped, label: "none" }), replica(b, { report: waiting })], {
      cluster: cluster({ hibernated: true, instances: 2 }, handover),
    }),
    `appoint ${b}`,
  ],
  [
    "missing instances",
    "it wakes: the primary first",
    seen([gone(a), gone(b)], asleep(false, "Hibernated")),
    `startInstances ${a}`,
  ],
  [
    "",
    "it wakes: the primary starts",
    seen([primary(a, { report: "silent", label: "none" }), gone(b), gone(c)], asleep(false, "Waking")),
    "wait",
  ],
  [
    "",
    "it wakes while a replica is still there: that one does not take over",
    seen([primary(a, { report: "silent", label: "none" }), replica(b)], {
      ...asleep(false, "Waking"),
      memory: { since: { ...silentFor(30_000).memory?.since, ...wakingFor(30_000).memory?.since } },
    }),
    "wait",
  ],
  [
    "missing instances",
    "it wakes, and its primary does not come up: the others start",
    seen([primary(a, { report: "silent", label: "none" }), gone(b)], {
      ...asleep(false, "Waking"),
      ...wakingFor(60_000),
    }),
    `startInstances ${b}`,
  ],
  [
    "missing instances",
    "it wakes, and the volume of the primary is gone: the others start",
    seen([claimless(a), gone(b)], asleep(false, "Hibernated")),
    `startInstances ${a} ${b}`,
  ],
  [
    "instructions",
    "a replica is to be fenced: all learn of it",
    seen(
      [primary(a), replica(b), replica(c)].map((each) => following(each)),
      fence([b]),
    ),
    `instruct ${a} ${b} ${c}`,
  ],
  [
    "fenced instances",
    "a fenced replica has stopped",
    seen([primary(a), fencedReplica(b), replica(c)], fence([b], [b])),
    "wait",
  ],
  [
    "fenced instances",
    "a surplus instance stays while another one is fenced",
    seen([primary(a), fencedReplica(b), replica(c), replica("orders-4")], fence([b], [b])),
    "wait",
  ],
  [
    "switchover on request",
    "another primary is asked for while a replica is fenced",
    seen([primary(a), fencedReplica(b), replica(c)], {
      cluster: cluster(
        { fencing: { members: [b], allowQuorumLoss: false } },
        { fencing: fencingOfStatus([b]) },
        { [labels.switchover]: c },
      ),
    }),
    `depose ${a} switchover ${c}`,
  ],
  [
    "",
    "the primary is to be fenced without consent: nothing happens",
    seen([primary(a), replica(b), replica(c)], fence([a])),
    "rest",
  ],
  [
    "fenced primary",
    "a fenced primary has stopped: nobody takes its place, however long that lasts",
    seen([fencedPrimary, replica(b), replica(c)], { ...fence([a], [a]), ...silentFor(3_600_000) }),
    "wait",
  ],
  [
    "",
    "the pod of a fenced primary is gone: it comes back",
    seen([primary(a, { pod: "missing" }), replica(b), replica(c)], fence([a], [a])),
    `startInstances ${a}`,
  ],
  [
    "fenced primary",
    "another primary is asked for in the place of a fenced one",
    seen([fencedPrimary, replica(b, { report: { isStreaming: false } }), replica(c)], {
      cluster: cluster(
        { fencing: { members: [a], allowQuorumLoss: true } },
        { fencing: fencingOfStatus([a]) },
        { [labels.switchover]: b },
      ),
    }),
    `depose ${a} switchover ${b}`,
  ],
  [
    "restore that waits for fenced instances",
    "a restore does not replace the data of a fenced instance",
    seen([primary(a), fencedReplica(b), replica(c)], { ...fence([b], [b]), restore: { id: "r1", state: "stop" } }),
    "wait",
  ],
  [
    "",
    "a released primary starts: it has the time of a restart",
    seen(
      [
        primary(a, { report: { server: "starting", isPrimary: undefined, isRestarting: true }, label: "none" }),
        replica(b),
        replica(c),
      ],
      { ...fence([], [a]), ...silentFor(10_000) },
    ),
    "wait",
  ],
  ["waking", "it wakes: the primary serves", seen([primary(a), gone(b)], asleep(false, "Waking")), "awake"],
];

describe("plan", () => {
  test.each(rows.map(([, situation, snapshot, step]) => [situation, step, snapshot] as const))(
    "%s → %s",
    (_, step, snapshot) => {
      expect(shown(plan(snapshot, 0))).toBe(step);
    },
  );

  test("every rule speaks in a row of this table", () => {
    const spoken = rows.map(([rule, , snapshot]) => [
      rule,
      rules.find((each) => each.step(snapshot) !== undefined)?.name ?? "",
    ]);
    for (const [claimed, name] of spoken) if (claimed !== "") expect(name).toBe(claimed);
    const silent = rules.map(({ name }) => name).filter((name) => !spoken.some(([, each]) => each === name));
    expect(silent).toEqual(upgradeRules);
  });

  test("a pod follows the settings of its cluster", () => {
    const wanted = templateText(cluster({ resources: { limits: { memory: "1Gi" } } }), undefined);
    expect(wanted).not.toBe(templateText(cluster(), undefined));
  });

  test("a pod that archives is not restarted while its store is refused, and is without a store", () => {
    const archive = { variable: { name: "STORE", value: '{"folder":"f"}' }, mounts: [], user: 65_532 };
    const archiving = cluster({ archive: { store: "vault" } });
    const pod = instancePod(archiving, a, { managerImage: "manager:1", archive });
    expect(pod.spec?.containers.map(({ name }) => name)).toEqual(["postgres", "archiver"]);
    expect(isTemplateAsWanted(pod, archiving, archive)).toBe(true);
    expect(isTemplateAsWanted(pod, archiving, undefined)).toBe(true);
    expect(isTemplateAsWanted(pod, cluster(), undefined)).toBe(false);
    const resources = { limits: { memory: "1Gi" } };
    expect(isTemplateAsWanted(pod, cluster({ archive: { store: "vault" }, resources }), undefined)).toBe(false);
  });
});
