/** A row a situation. */
import { parseDuration, type Stored } from "setpoint";
import { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import type { ActRecord } from "../kind/act-record.ts";
import { HatefulSet } from "../kind/hateful-set.ts";
import type { Seen, SeenPod, SeenTarget } from "../seen/seen.ts";
import { chance } from "./chance.ts";
import { plan } from "./plan.ts";
import { statusOf } from "./status.ts";

/** A Wednesday. */
const now = "2026-01-07T12:00:00.000Z";
const nowMs = Date.parse(now);
const ago = (text: string): string => new Date(nowMs - parseDuration(text)).toISOString();

type Spec = Parameters<typeof HatefulSet>[0]["spec"];
type Status = Partial<NonNullable<HatefulSet["status"]>>;

interface Sketch {
  readonly spec?: Partial<Spec>;
  readonly status?: Status;
  readonly annotations?: Record<string, string>;
  readonly targets?: readonly SeenTarget[];
  readonly policies?: readonly string[];
  readonly services?: Seen["services"];
}

function seen({
  spec = {},
  status = { nextDecision: now },
  annotations = {},
  targets = [orders()],
  policies = [],
  services = [],
}: Sketch): Seen {
  const set = HatefulSet({
    name: "chaos",
    namespace: "shop",
    annotations,
    spec: { chaosLevel: 10, interval: 300, jitter: 0, ...spec },
  });
  const metadata = { ...set.metadata, name: "chaos", uid: "set-uid", generation: 1, resourceVersion: "1" };
  const full = { interval: 1, total: 0, recovered: 0, observedGeneration: 1, ...status };
  return { set: { ...set, metadata, status: full } as unknown as Stored<HatefulSet>, targets, policies, services };
}

function pod(name: string, more: Partial<SeenPod> = {}): SeenPod {
  const stored = Pod({ name, namespace: "shop", spec: { containers: [] } });
  const metadata = { ...stored.metadata, name, uid: `uid-${name}` };
  return {
    pod: { ...stored, metadata } as Stored<Pod>,
    ...{ isOptedIn: true, isReady: true, isEnding: false, labelRoles: [], budgets: [] },
    ...more,
  };
}

function orders(more: Partial<SeenTarget> = {}): SeenTarget {
  const names = ["orders-a", "orders-b", "orders-c"];
  const role = (at: number): string => (at === 1 ? "Leader" : "Follower");
  return {
    ...{
      apiVersion: "etcd.setpoint.dev/v1",
      kind: "EtcdCluster",
      name: "orders",
      isGone: false,
      unreadable: undefined,
    },
    ...{ size: 3, pods: names.map((name) => pod(name)), conditions: [], said: "3 of 3 members healthy" },
    members: names.map((name, at) => ({ name, role: role(at), healthy: true })),
    ...more,
  };
}

const act = (more: Partial<ActRecord> = {}): ActRecord => ({
  ...{ id: "interval-1", type: "Pod", victim: { kind: "Pod", name: "orders-b", uid: "uid-orders-b" } },
  target: { apiVersion: "etcd.setpoint.dev/v1", kind: "EtcdCluster", name: "orders" },
  ...{ cause: "interval-1", at: ago("5s"), phase: "Struck" },
  ...more,
});

const without = (name: string): SeenTarget =>
  orders({ pods: orders().pods.filter(({ pod: each }) => each.metadata.name !== name) });
const requested = { annotations: { "control-plane.io/strike": "1" } };
const cut = (more: Partial<Sketch> = {}, lasting: Partial<NonNullable<ActRecord["lasting"]>> = {}): Sketch => ({
  status: {
    acts: [
      act({
        ...more.status?.acts?.[0],
        type: "Partition",
        lasting: { policy: "chaos-interval-1", podLabels: { pod: "orders-b" }, until: ago("-10s"), ...lasting },
      }),
    ],
  },
  policies: ["chaos-interval-1"],
  targets: [labelled],
  ...Object.fromEntries(Object.entries(more).filter(([key]) => key !== "status")),
});
const request = (sketch: Sketch): Sketch => ({ ...requested, status: {}, ...sketch });
const labelled = orders({
  pods: orders().pods.map((each) => ({
    ...each,
    pod: { ...each.pod, metadata: { ...each.pod.metadata, labels: { app: "orders", pod: each.pod.metadata.name } } },
  })),
});
const cutSpec = { targets: [{ type: "Partition" as const, role: "leader", durationSeconds: 30 }] };
const service = { name: "orders-client", uid: "service", selector: { app: "orders" } };
const cutService = { targets: [{ type: "Partition" as const, service: "orders-client" }] };
const single = orders({
  size: 1,
  pods: [pod("orders-a")],
  members: [{ name: "orders-a", role: "Leader", healthy: true }],
});

test.each<[string, Sketch, string]>([
  ["the first decision is an interval away", { status: {} }, "rest 300"],
  ["nothing is due", { status: { nextDecision: ago("-60s") } }, "rest 60"],
  ["a new spec begins a new interval", { status: { nextDecision: ago("-60s"), observedGeneration: 0 } }, "rest 300"],
  ["an interval is due", {}, "strike EtcdCluster orders"],
  ["level 0 acts never by itself", { spec: { chaosLevel: 0 } }, "rest"],
  ["it is suspended", { spec: { suspend: true } }, "rest, stalled Suspended"],
  ["a dry run", { spec: { dryRun: true } }, "pretend EtcdCluster orders"],
  ["a request", request({}), "strike EtcdCluster orders"],
  ["a request that finds nobody", request({ targets: [] }), "decline The request 1 struck nobody: no pod is opted in"],
  ["a request that is answered", request({ status: { lastRequest: "1" } }), "rest 300"],
  ["the leader", { spec: { targets: [{ type: "Role", role: "leader" }] } }, "strike orders-b"],
  [
    "nobody has the role",
    { spec: { targets: [{ type: "Role", role: "primary" }] } },
    "rest 300, stalled NoVictim: no pod with the role primary",
  ],
  [
    "a role that a label tells",
    {
      spec: { targets: [{ type: "Role", role: "Primary" }] },
      targets: [orders({ members: [], pods: [pod("db-0"), pod("db-1", { labelRoles: ["primary"] })], size: 2 })],
    },
    "strike db-1",
  ],
  [
    "nobody has opted in",
    { targets: [orders({ pods: [pod("a", { isOptedIn: false })], size: 1 })] },
    "rest 300, stalled NoVictim: no pod is opted in",
  ],
  ["the namespace is empty", { targets: [] }, "rest 300, stalled NoVictim: no pod is opted in"],
  [
    "a pod is missing",
    { targets: [without("orders-a")] },
    "wait interval-1 waits: EtcdCluster orders is not healthy: 2 of 3 pods are ready",
  ],
  [
    "a member is unhealthy",
    {
      targets: [
        orders({ members: [...orders().members.slice(1), { name: "orders-a", role: "Follower", healthy: false }] }),
      ],
    },
    "wait interval-1 waits: EtcdCluster orders is not healthy: 2 of 3 members are healthy",
  ],
  [
    "a condition says so",
    { targets: [orders({ conditions: [{ type: "Available", status: "False", reason: "NoQuorum" } as never] })] },
    "wait interval-1 waits: EtcdCluster orders is not healthy: Available is False (NoQuorum)",
  ],
  [
    "one member alone",
    { targets: [single] },
    "wait interval-1 waits: EtcdCluster orders would have 0 healthy members without orders-a",
  ],
  [
    "one member alone, and the spec allows it",
    { spec: { safety: { quorum: "Ignore", budgets: "Respect", unhealthy: "Wait" } }, targets: [single] },
    "strike orders-a",
  ],
  [
    "the budget of the pods is used up",
    {
      targets: [
        orders({
          pods: orders().pods.map((each) => ({ ...each, budgets: [{ name: "orders", disruptionsAllowed: 0 }] })),
        }),
      ],
    },
    "wait interval-1 waits: PodDisruptionBudget orders allows 0 disruptions",
  ],
  [
    "its status may not be read",
    { targets: [orders({ unreadable: "the operator may not get it" })] },
    "wait interval-1 waits: EtcdCluster orders is not healthy: the operator may not",
  ],
  [
    "its own budget is used up",
    { spec: { budget: { acts: 1, seconds: 60 } }, status: { nextDecision: now, recentActs: [ago("59s")] } },
    "rest 300",
  ],
  [
    "a request waits for the budget",
    request({ spec: { budget: { acts: 1, seconds: 60 } }, status: { recentActs: [ago("50s")] } }),
    "wait 10 The request waits for the budget",
  ],
  ["outside of the window", { spec: { window: { from: "13:00", to: "14:00", timeZone: "Etc/UTC" } } }, "rest 300"],
  [
    "inside of the window",
    { spec: { window: { from: "13:00", to: "14:00", timeZone: "Europe/Berlin", days: ["Wed"] } } },
    "strike EtcdCluster orders",
  ],
  [
    "a window over midnight",
    { spec: { window: { from: "22:00", to: "13:00", timeZone: "Etc/UTC", days: ["Tue"] } } },
    "strike EtcdCluster orders",
  ],
  [
    "a request waits for the window",
    request({ spec: { window: { from: "13:00", to: "14:00", timeZone: "Etc/UTC" } } }),
    "wait 60 The request waits for the window",
  ],
  ["recorded, and not done", { status: { acts: [act({ phase: "Intended" })] } }, "strike orders-b"],
  [
    "recorded, and done",
    { status: { acts: [act({ phase: "Intended" })] }, targets: [without("orders-b")] },
    "wait 1 EtcdCluster orders recovers",
  ],
  [
    "recorded, and unsafe since",
    { status: { acts: [act({ phase: "Intended" })] }, targets: [without("orders-a")] },
    "withdraw orders-b is spared: EtcdCluster orders is not healthy",
  ],
  [
    "recorded, and not allowed",
    { status: { acts: [act({ phase: "Intended", at: ago("121s") })] } },
    "withdraw orders-b is spared: the API has not allowed it",
  ],
  [
    "recorded, then suspended",
    { spec: { suspend: true }, status: { acts: [act({ phase: "Intended" })] } },
    "withdraw orders-b is spared: spec.suspend",
  ],
  ["it recovers", { status: { acts: [act()] }, targets: [without("orders-b")] }, "wait 1 EtcdCluster orders recovers"],
  [
    "the victim is still stopping",
    {
      status: { acts: [act()] },
      targets: [
        orders({
          pods: orders().pods.map((each) => ({ ...each, isEnding: each.pod.metadata.name === "orders-b" })),
          size: 2,
        }),
      ],
    },
    "wait 1",
  ],
  [
    "it has recovered",
    { status: { acts: [act({ victim: { kind: "Pod", name: "orders-b", uid: "old" } })] } },
    "recordRecovery EtcdCluster orders has recovered after 5 s",
  ],
  [
    "it does not recover",
    { status: { acts: [act({ at: ago("601s") })] }, targets: [without("orders-b")] },
    "abort EtcdCluster orders has not recovered from interval-1 in 600 s: 2 of 3",
  ],
  ["a partition of the leader", { spec: cutSpec, targets: [labelled] }, "strike orders-b"],
  [
    "no label tells pods apart",
    { spec: cutSpec },
    "rest 300, stalled NoVictim: no pod with the role leader is opted in and has a label of its own",
  ],
  [
    "a Service whose members are needed",
    { spec: cutService, targets: [labelled], services: [service] },
    "wait interval-1 waits: EtcdCluster orders would have 0 healthy members",
  ],
  [
    "a Service, and the spec allows it",
    {
      spec: { ...cutService, safety: { quorum: "Ignore", budgets: "Respect", unhealthy: "Wait" } },
      targets: [labelled],
      services: [service],
    },
    "strike orders-client",
  ],
  ["a Service that does not exist", { spec: cutService, targets: [labelled] }, "rest 300, stalled NoVictim"],
  [
    "a partition that is recorded",
    cut({ status: { acts: [act({ phase: "Intended" })] }, policies: [] }),
    "strike orders-b",
  ],
  [
    "a partition that is recorded, and there",
    cut({ status: { acts: [act({ phase: "Intended" })] } }),
    "wait 1 interval-1 lasts until",
  ],
  ["a partition lasts", cut(), "wait 1 interval-1 lasts until"],
  [
    "the clock was set back in a partition",
    cut({ status: { acts: [act({ at: ago("-1h") })] } }, { until: ago("-2h") }),
    "undo Remove NetworkPolicy chaos-interval-1: the clock was set back, so its time is unknown",
  ],
  ["a partition is over", cut({}, { until: now }), "undo Remove NetworkPolicy chaos-interval-1: its time is over"],
  [
    "a partition, then suspended",
    cut({ spec: { suspend: true } }),
    "undo Remove NetworkPolicy chaos-interval-1: spec.suspend",
  ],
  [
    "a partition, and its target is gone",
    cut({ targets: [orders({ pods: [], isGone: true })] }),
    "undo Remove NetworkPolicy",
  ],
  [
    "a partition does harm",
    cut({
      spec: { abort: { afterSeconds: 600, conditions: [{ type: "DataLost", status: "True" }] } },
      targets: [{ ...labelled, conditions: [{ type: "DataLost", status: "True", reason: "Lost" } as never] }],
    }),
    "undo Remove NetworkPolicy chaos-interval-1: EtcdCluster orders reports DataLost",
  ],
  [
    "a partition ended, and it recovers",
    cut({ policies: [], targets: [without("orders-a")] }, { endedAt: ago("3s") }),
    "wait 1 EtcdCluster orders recovers",
  ],
  [
    "a partition ended, and it has recovered",
    cut({ policies: [] }, { endedAt: ago("3s") }),
    "recordRecovery EtcdCluster orders has recovered after 3 s",
  ],
  [
    "a partition that nobody knows",
    { policies: ["chaos-interval-9"] },
    "undo Remove NetworkPolicy chaos-interval-9: chaos-interval-9 belongs to no act",
  ],
  [
    "it reports harm",
    {
      spec: { abort: { afterSeconds: 600, conditions: [{ type: "DataLost", status: "True" }] } },
      status: { acts: [act()] },
      targets: [orders({ conditions: [{ type: "DataLost", status: "True", reason: "Restored" } as never] })],
    },
    "abort EtcdCluster orders reports DataLost=True (Restored)",
  ],
  [
    "its target is deleted",
    { status: { acts: [act()] }, targets: [orders({ pods: [], isGone: true })] },
    "withdraw EtcdCluster orders is gone",
  ],
  [
    "aborted",
    { status: { aborted: { at: now, reason: "harm", generation: 1 }, nextDecision: now } },
    "rest, stalled Aborted",
  ],
  [
    "aborted before the spec changed",
    { status: { aborted: { at: now, reason: "harm", generation: 0 }, nextDecision: now } },
    "strike EtcdCluster orders",
  ],
])("%s", (_, sketch, expected) => {
  const step = plan(seen(sketch), nowMs);
  expect(textOf(step)).toContain(expected);
});

function textOf(step: ReturnType<typeof plan>): string {
  if (step.kind === "wait") return `wait ${step.delayMs / 1_000} ${step.reason} / wait ${step.reason}`;
  if (step.kind === "rest") {
    const time = step.recheckMs === undefined ? "" : ` ${step.recheckMs / 1_000}`;
    return `rest${time}${step.stalled === undefined ? "" : `, stalled ${step.stalled.reason}: ${step.stalled.message}`}`;
  }
  const whom =
    "act" in step.args
      ? `${step.args.act.victim.name} / ${step.action} ${step.args.act.target.kind} ${step.args.act.target.name}`
      : step.reason;
  return `${step.action} ${whom}`;
}

test("a level is the share of intervals that bring an act", () => {
  const struck = (level: number): number =>
    Array.from({ length: 1_000 }, (_, at) =>
      plan(seen({ spec: { chaosLevel: level, seed: 7 }, status: { nextDecision: now, interval: at } }), nowMs),
    ).filter(({ kind }) => kind === "act").length;
  expect(struck(10)).toBe(1_000);
  expect(struck(5)).toBeGreaterThan(450);
  expect(struck(5)).toBeLessThan(550);
  expect(struck(1)).toBeGreaterThan(70);
  expect(struck(1)).toBeLessThan(130);
});

test("chance repeats, and is spread over victims", () => {
  expect(chance("7", "interval-1", "victim")).toBe(chance("7", "interval-1", "victim"));
  const counts = [0, 0, 0];
  for (let at = 0; at < 3_000; at++) {
    const index = Math.floor(3 * chance("7", `interval-${at}`, "victim"));
    counts[index] = (counts[index] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(900);
});

test("an act is recorded before it is done, and counted once", () => {
  const first = seen({});
  const step = plan(first, nowMs);
  const status = statusOf(first, step, nowMs);
  expect(status).toMatchObject({ total: 1, interval: 2, acts: [{ id: "interval-1", phase: "Intended" }] });
  const again = seen({ status: { ...status } });
  const repeated = statusOf(again, plan(again, nowMs), nowMs);
  expect(repeated).toMatchObject({ total: 1, acts: [{ id: "interval-1", phase: "Intended" }] });
});

test("a target that recovers late gets a whole interval of peace", () => {
  const late = seen({
    status: { nextDecision: ago("10s"), acts: [act({ victim: { kind: "Pod", name: "x", uid: "old" } })] },
  });
  const status = statusOf(late, plan(late, nowMs), nowMs);
  expect(status).toMatchObject({ nextDecision: ago("-300s"), recovered: 1, slowestRecoverySeconds: 5 });
  expect(status.acts).toMatchObject([{ phase: "Recovered", recoveredAfterSeconds: 5 }]);
});
