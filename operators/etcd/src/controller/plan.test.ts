import type { PersistentVolumeClaim, Pod } from "@setpoint/api";
import { describe, expect, test } from "vitest";
import type { EtcdCluster } from "../etcd-cluster.ts";
import { initialMemberNames } from "./initial-members.ts";
import { claims } from "../testing/etcd-stage.ts";
import { plan } from "./plan.ts";
import type { Seen, SeenMember } from "./seen.ts";

const nowMs = Date.parse("2026-01-01T00:10:00Z");
const target = "3.4.23";

function cluster(spec: Partial<EtcdCluster["spec"]> = {}, status?: object): EtcdCluster {
  return {
    apiVersion: "etcd.setpoint.dev/v1",
    kind: "EtcdCluster",
    metadata: { name: "orders", namespace: "default", uid: "u1", generation: 1 },
    spec: {
      size: 3,
      version: target,
      paused: false,
      imageRepository: "quay.io/coreos/etcd",
      deletionPolicy: "Delete",
      ...spec,
    },
    status: { clusterID: "c1", ...status },
  } as EtcdCluster;
}

interface MemberSketch {
  readonly pod?: "Running" | "Pending" | "Failed" | "gone" | "stopping";
  readonly version?: string;
  readonly answers?: boolean;
  /** Its pod is ready; default: when it answers. */
  readonly serves?: boolean;
  readonly runs?: string;
  readonly leads?: boolean;
  readonly learner?: boolean;
  readonly listed?: boolean;
  readonly started?: boolean;
  readonly raftIndex?: number;
  readonly volume?: boolean | "leaving";
  /** How its failed pod ended, a second after its start. */
  readonly exitCode?: number;
  readonly silentSince?: string;
  readonly recorded?: boolean;
}

function ended(exitCode: number): object {
  return { exitCode, startedAt: "2026-01-01T00:09:00Z", finishedAt: "2026-01-01T00:09:01Z" };
}

function claimOf(member: string, isLeaving: boolean): PersistentVolumeClaim {
  const left = isLeaving ? { deletionTimestamp: "2026-01-01T00:09:59Z" } : {};
  return { metadata: { name: `data-${member}`, ...left } } as PersistentVolumeClaim;
}

/** A healthy voter unless the sketch says otherwise; `a` leads unless told otherwise. */
function member(name: string, sketch: MemberSketch = {}): SeenMember {
  const phase = sketch.pod ?? "Running";
  const answers = sketch.answers ?? phase === "Running";
  const version = sketch.version ?? target;
  const pod = {
    metadata: {
      name,
      uid: `pod-${name}`,
      ...(phase === "stopping" ? { deletionTimestamp: "2026-01-01T00:09:59Z" } : {}),
    },
    spec: { containers: [{ name: "etcd", image: `quay.io/coreos/etcd:v${version}` }] },
    status: {
      phase: phase === "stopping" ? "Running" : phase,
      podIP: "127.64.0.2",
      conditions: [{ type: "Ready", status: (sketch.serves ?? answers) ? "True" : "False" }],
      ...(sketch.exitCode === undefined
        ? {}
        : { containerStatuses: [{ state: { terminated: ended(sketch.exitCode) } }] }),
    },
  } as unknown as Pod;
  return {
    name,
    ...(phase === "gone" ? {} : { pod }),
    ...(sketch.volume ? { volume: claimOf(name, sketch.volume === "leaving") } : {}),
    ...(sketch.listed === false
      ? {}
      : { listed: { id: `id-${name}`, learner: sketch.learner ?? false, started: sketch.started ?? true } }),
    ...(sketch.recorded === false
      ? {}
      : {
          ...(sketch.silentSince ? { silentForMs: nowMs - Date.parse(sketch.silentSince) } : {}),
          recorded: { id: `id-${name}`, ...(sketch.silentSince ? { unhealthySince: sketch.silentSince } : {}) },
        }),
    ...(answers
      ? {
          status: {
            memberId: `id-${name}`,
            clusterId: "c1",
            version: sketch.runs ?? version,
            leaderId: sketch.leads ? `id-${name}` : "id-a",
            learner: sketch.learner ?? false,
            raftIndex: sketch.raftIndex ?? 100,
            revision: 1,
            errors: [],
          },
        }
      : {}),
  };
}

const a = (sketch: MemberSketch = {}): SeenMember => member("a", sketch);
const b = (sketch: MemberSketch = {}): SeenMember => member("b", sketch);
const c = (sketch: MemberSketch = {}): SeenMember => member("c", sketch);

function seen(members: readonly SeenMember[], overrides: Partial<Seen> = {}): Seen {
  return {
    cluster: cluster(),
    members,
    misowned: [],
    mislabelled: [],
    quorum: true,
    clusterIds: ["c1"],
    targetVersion: target,
    servicesToApply: [],
    ...overrides,
  };
}

/** The step in one line: `promote c`, `wait`, `rest`. */
function step(situation: Seen): string {
  const decided = plan(situation);
  if (decided.kind !== "act") return decided.kind;
  const args = decided.args as Readonly<Record<string, unknown>>;
  return [decided.action, args["member"] ?? args["from"]].filter(Boolean).join(" ");
}

const down = { quorum: false, clusterIds: [] } as const;
const gone = (name: string, sketch: MemberSketch = {}): SeenMember =>
  member(name, { pod: "gone", listed: false, ...sketch });

describe("plan", () => {
  test.each([
    ["all is well", seen([a(), b(), c()]), "rest"],
    [
      "paused, with a dead member",
      seen([a(), b(), c({ pod: "Failed" })], { cluster: cluster({ paused: true }) }),
      "rest",
    ],
    ["a Service is missing", seen([a(), b(), c()], { servicesToApply: ["orders"] }), "applyServices"],
    ["a Service belongs to somebody else", seen([a(), b(), c()], { serviceTaken: "orders" }), "wait"],
    ["members of two clusters", seen([a(), b(), c()], { clusterIds: ["c1", "c2"] }), "wait"],

    ["a member's process died", seen([a(), b(), c({ pod: "Failed" })]), "removeMember c"],
    [
      "a member's process died, its volume is there",
      seen([a(), b(), c({ pod: "Failed", volume: true })]),
      "removeMember c",
    ],
    ["a pod was deleted, its volume is there", seen([a(), b(), c({ pod: "gone", volume: true })]), "startMember c"],
    ["a pod was deleted, there is no volume", seen([a(), b(), c({ pod: "gone" })]), "removeMember c"],
    [
      "a member is silent for a moment",
      seen([a(), b(), c({ answers: false, silentSince: "2026-01-01T00:09:30Z" })]),
      "wait",
    ],
    [
      "a member is silent for too long",
      seen([a(), b(), c({ answers: false, silentSince: "2026-01-01T00:08:30Z" })]),
      "removeMember c",
    ],
    ["a member answers, its pod is not ready yet", seen([a(), b(), c({ serves: false })]), "wait"],
    ["a pod is stopping", seen([a(), b(), c({ pod: "stopping", answers: false })]), "wait"],
    [
      "two members died, three of five answer",
      seen([a(), b(), c(), member("d", { pod: "Failed" }), member("e", { pod: "Failed" })], {
        cluster: cluster({ size: 5 }),
      }),
      "removeMember d",
    ],

    [
      "a removed member's pod is left",
      seen([a(), b(), c({ listed: false, pod: "Failed", volume: true })]),
      "deletePod c",
    ],
    [
      "a removed member's volume is left",
      seen([a(), b(), c({ listed: false, pod: "gone", volume: true })]),
      "deleteVolume c",
    ],
    [
      "a removed member's pod is stopping",
      seen([a(), b(), c({ listed: false, pod: "stopping", volume: true })]),
      "addLearner",
    ],

    ["one member too few", seen([a(), b()]), "addLearner"],
    [
      "a learner was added and has no pod",
      seen([a(), b(), c({ pod: "gone", learner: true, started: false })]),
      "startMember c",
    ],
    ["a learner's pod is starting", seen([a(), b(), c({ pod: "Pending", learner: true, started: false })]), "wait"],
    ["a learner's pod failed", seen([a(), b(), c({ pod: "Failed", learner: true, started: false })]), "removeMember c"],
    ["a learner is behind", seen([a(), b(), c({ learner: true, raftIndex: 50 })]), "wait"],
    ["a learner is in sync", seen([a(), b(), c({ learner: true, raftIndex: 95 })]), "promote c"],
    [
      "a learner is in sync while five are wanted",
      seen([a(), b(), c({ learner: true })], { cluster: cluster({ size: 5 }) }),
      "promote c",
    ],
    [
      "one member too many, the one removed before is still stopping",
      seen([a(), b(), c({ listed: false, pod: "stopping" })], { cluster: cluster({ size: 1 }) }),
      "wait",
    ],
    ["two members too many", seen([a(), b(), c()], { cluster: cluster({ size: 1 }) }), "removeMember c"],
    [
      "two members too many, the last one leads",
      seen(
        [a({ leads: false }), b(), c({ leads: true })].map((each) => ({
          ...each,
          status: each.status && { ...each.status, leaderId: "id-c" },
        })) as SeenMember[],
        { cluster: cluster({ size: 1 }) },
      ),
      "removeMember b",
    ],

    ["all run the old version", seen([a(), b(), c()], { targetVersion: "3.5.16" }), "upgradeMember b"],
    [
      "a follower restarts with the new version",
      seen([a(), b({ version: "3.5.16", answers: false }), c()], { targetVersion: "3.5.16" }),
      "wait",
    ],
    [
      "a follower still answers as the old version",
      seen([a(), b({ version: "3.5.16", runs: "3.4.23" }), c()], { targetVersion: "3.5.16" }),
      "wait",
    ],
    [
      "one follower is upgraded",
      seen([a(), b({ version: "3.5.16" }), c()], { targetVersion: "3.5.16" }),
      "upgradeMember c",
    ],
    [
      "only the leader is old",
      seen([a(), b({ version: "3.5.16" }), c({ version: "3.5.16" })], { targetVersion: "3.5.16" }),
      "moveLeader a",
    ],
    [
      "the only member is old",
      seen([a()], { targetVersion: "3.5.16", cluster: cluster({ size: 1 }) }),
      "upgradeMember a",
    ],
    ["resize and upgrade at once", seen([a(), b()], { targetVersion: "3.5.16" }), "addLearner"],

    [
      "no quorum, the processes died, the volumes are there",
      seen([gone("a", { pod: "Failed", volume: true }), gone("b", { pod: "Failed", volume: true })], down),
      "deletePod a",
    ],
    [
      "no quorum, pods are gone, volumes are there",
      seen([gone("a", { volume: true }), gone("b", { volume: true })], down),
      "startMember a",
    ],
    ["no quorum and no volumes", seen([gone("a"), gone("b")], down), "wait"],
    [
      "no quorum, the leader died, the others are about to elect one",
      seen(
        [gone("a", { pod: "Failed", volume: true }), gone("b", { pod: "Running" }), gone("c", { pod: "Running" })],
        down,
      ),
      "wait",
    ],
    [
      "no quorum, one dead with a volume, the others hang",
      seen(
        [
          gone("a", { pod: "Failed", volume: true }),
          gone("b", { pod: "Running", silentSince: "2026-01-01T00:08:30Z" }),
          gone("c", { pod: "Running" }),
        ],
        down,
      ),
      "deletePod a",
    ],
    [
      "no quorum, two start again and the third is still dead",
      seen(
        [
          gone("a", { pod: "Pending", volume: true }),
          gone("b", { pod: "Pending", volume: true }),
          gone("c", { pod: "Failed", volume: true }),
        ],
        down,
      ),
      "deletePod c",
    ],
    [
      "no quorum, members are starting",
      seen([gone("a", { pod: "Pending", volume: true }), gone("b", { pod: "Pending", volume: true })], down),
      "wait",
    ],
    [
      "no quorum, one dead without a volume, nobody may be removed",
      seen(
        [gone("a", { pod: "Failed" }), gone("b", { pod: "Running", answers: false }), gone("c", { pod: "Failed" })],
        down,
      ),
      "wait",
    ],
  ])("%s", (_situation, given, expected) => {
    expect(step(given)).toBe(expected);
  });

  test("the first start makes all members with one static list", () => {
    const fresh = cluster({}, { clusterID: undefined });
    const names = initialMemberNames(fresh);
    expect(names).toHaveLength(3);
    const decided = plan(seen([], { cluster: fresh, quorum: false, clusterIds: [] }));
    expect(decided).toMatchObject({
      action: "startMember",
      args: { member: names[0], initialCluster: names, state: "new" },
    });
  });

  test("a member that fails before it has joined for the first time is started again, not removed", () => {
    const fresh = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    expect(step(seen([a(), b(), c({ pod: "Failed", started: false })], { cluster: fresh }))).toBe("deletePod c");
    expect(step(seen([a(), b()], { cluster: fresh }))).toBe("startMember c");
  });

  test("a member that joined during the first start and lost its data is replaced: etcd takes nobody back under an old name", () => {
    const fresh = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    expect(step(seen([a(), b(), c({ pod: "Failed" })], { cluster: fresh }))).toBe("removeMember c");
    expect(step(seen([a(), b(), c({ pod: "Failed", volume: true })], { cluster: fresh }))).toBe("deletePod c");
  });

  test("a founder whose claim was deleted before its pod could start is replaced, once a quorum can say who is there", () => {
    const fresh = cluster(claims, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    const [one, two] = [a({ volume: true }), b({ volume: true })];
    const stuck = c({ pod: "Pending", started: false });
    expect(step(seen([one, two, stuck], { cluster: fresh }))).toBe("removeMember c");
    expect(step(seen([one, two, c({ pod: "Pending", started: false, volume: true })], { cluster: fresh }))).toMatch(
      /^wait/,
    );
    expect(step(seen([one, two, c({ pod: "Pending", started: false, volume: "leaving" })], { cluster: fresh }))).toBe(
      "removeMember c",
    );
    expect(step(seen([one, stuck], { cluster: fresh, quorum: false }))).not.toBe("removeMember c");
  });

  test("a pod of the first start whose claim is being deleted goes first, and comes back when the claim is gone", () => {
    const fresh = cluster(claims, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    const first = (sketch: MemberSketch): string =>
      step(seen([a({ ...sketch, started: false, recorded: false })], { cluster: fresh, quorum: false }));
    expect(first({ pod: "Pending", volume: "leaving" })).toBe("deletePod a");
    expect(first({ pod: "gone", volume: "leaving" })).toBe("startMember b");
    expect(first({ pod: "gone" })).toBe("startMember a");
  });

  test("a learner whose claim is being deleted before it has started is started anew when the claim is gone", () => {
    const wanted = cluster(claims);
    const learner = (sketch: MemberSketch): string =>
      step(
        seen([a({ volume: true }), b({ volume: true }), c({ ...sketch, learner: true, started: false })], {
          cluster: wanted,
        }),
      );
    expect(learner({ pod: "Pending", volume: "leaving" })).toBe("deletePod c");
    expect(learner({ pod: "gone", volume: "leaving" })).toMatch(/^wait/);
    expect(learner({ pod: "gone" })).toBe("startMember c");
  });

  test("a founder that was started again on an empty volume, and ends by itself at once, is replaced", () => {
    const fresh = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    const refused = c({ pod: "Failed", volume: true, exitCode: 1 });
    expect(step(seen([a(), b(), refused], { cluster: fresh }))).toBe("removeMember c");
    const killed = { ...c({ pod: "Failed", volume: true, exitCode: 137 }), failedForMs: 10_000 };
    expect(step(seen([a(), b(), killed], { cluster: fresh }))).toBe("deletePod c");
    expect(step(seen([a(), refused], { cluster: fresh, quorum: false }))).not.toBe("removeMember c");
  });

  test("who fails right after its start is started again ten seconds later, whatever the operator's wall clock says", () => {
    const fresh = cluster({}, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    const failed = c({ pod: "Failed", started: false, exitCode: 1 });
    const after = (failedForMs: number): string =>
      step(seen([a(), b(), { ...failed, failedForMs }], { cluster: fresh }));
    expect(after(0)).toMatch(/^wait/);
    expect(after(9_999)).toMatch(/^wait/);
    expect(after(10_000)).toBe("deletePod c");
  });

  test("the first start keeps to its recorded members when the size changes meanwhile", () => {
    const fresh = cluster({ size: 5 }, { clusterID: undefined, initialMembers: ["a", "b", "c"] });
    expect(initialMemberNames(fresh)).toEqual(["a", "b", "c"]);
  });

  test("every step says why", () => {
    const decided = plan(seen([a(), b(), c({ pod: "Failed" })]));
    expect(decided).toMatchObject({ reason: "the pod of c failed, quorum is safe: 2 of 3 answer" });
  });
});
