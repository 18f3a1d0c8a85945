import { expect, test } from "vitest";
import type { Stored } from "setpoint";
import { judgeCluster } from "../inner/served-cluster.ts";
import { hashOf } from "../instance/document-hash.ts";
import type { PoolerReport } from "../instance/pooler-protocol.ts";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { cluster } from "../roles/role-situation.fixture.ts";
import { planPooler, poolerRules } from "./plan-pooler.ts";
import { parameterRefusals } from "./pooler-parameters.ts";
import { isPaused, type SeenPooler, type SeenPoolerPod } from "./pooler-seen.ts";
import { poolerStatus } from "./pooler-status.ts";
import { PostgresPooler } from "./postgres-pooler.ts";
import { pauseOf, wantedPooler } from "./wanted-pooler.ts";

type Spec = Parameters<typeof PostgresPooler>[0]["spec"];

function pooler(spec: Partial<Spec> = {}, status: object = {}): Stored<PostgresPooler> {
  const made = PostgresPooler({
    name: "pool",
    namespace: "default",
    spec: { cluster: "orders", instances: 1, ...spec },
  });
  return { ...made, status, metadata: { ...made.metadata, uid: "u1", generation: 1 } } as never;
}

function clusterWith(status: object): Stored<PostgresCluster> {
  const made = cluster();
  return { ...made, status: { ...made.status, ...status } } as never;
}

const { pauseMs: _, ...document } = wantedPooler(pooler(), cluster()) ?? ({} as never);
const reported: PoolerReport = { follows: hashOf(document), term: 3, pause: "no", isRunning: true };

function pod(report: Partial<PoolerReport> | undefined = {}, isReady = true): SeenPoolerPod {
  return { name: "pool-a", address: "https://pod", isReady, report: { ...reported, ...report } };
}

function seen(facts: Partial<SeenPooler> = {}, status: object = {}): SeenPooler {
  const of = clusterWith(status);
  return {
    pooler: pooler(),
    refusals: [],
    cluster: judgeCluster("orders", of),
    hasCertificate: true,
    hasLogin: true,
    objects: { wanted: "1", present: "1" },
    pods: [pod()],
    wanted: wantedPooler(pooler(), of),
    pauseFor: pauseOf(pooler(), of),
    ...facts,
  };
}

const pausing = { pausing: { for: "4", since: "2026-01-01T00:00:00Z" } };
const rows: readonly (readonly [SeenPooler, string])[] = [
  [seen({ refusals: [{ field: "spec.parameters[x]", why: "no" }] }), "refused: FieldsRefused"],
  [seen({ cluster: judgeCluster("orders", undefined) }), 'no cluster: PostgresCluster "orders" does not exist'],
  [
    seen({ taken: 'Service "pool"' }),
    'a name is taken: Service "pool" belongs to another owner; rename the PostgresPooler or remove that object',
  ],
  [seen({ pods: [pod({ follows: "old" })] }), "instructions: instruct: the server is orders-1.orders.default.svc"],
  [
    seen({ pods: [pod({ pause: "yes" })] }, pausing),
    "instructions: instruct: clients wait until the primary of term 4 accepts writes",
  ],
  [seen({ pods: [pod({ pause: "yes" })] }), "instructions: instruct: the server is orders-1.orders.default.svc"],
  [
    seen({ hasCertificate: false }),
    "certificate: the controller of the PostgresCluster issues the certificate of the pooler",
  ],
  [seen({ hasLogin: false }), "login: prepareLogin: the primary may lack the role of poolers"],
  [seen({ wanted: undefined }), "first primary: there is no primary yet"],
  [
    seen({ objects: { wanted: "2", present: "1" } }),
    "objects: applyObjects: the Deployment, the Service or the budget is missing or old",
  ],
  [seen({ pods: [pod({ message: "no DNS" }, false)] }), "pods: 0 of 1 pods are ready; pool-a: no DNS"],
  [seen(), "rest: "],
];

test.each(rows)("%#", (situation, text) => {
  const step = planPooler(situation, 0);
  const shown =
    step.kind === "act" ? `${step.action}: ${step.reason}` : step.kind === "wait" ? step.reason : step.stalled?.reason;
  expect(`${step.rule}: ${shown ?? ""}`).toBe(text);
});

test("each rule has its row", () => {
  const named = new Set(rows.map(([, text]) => text.slice(0, text.indexOf(":"))));
  expect([...named].toSorted()).toEqual(poolerRules.map(({ name }) => name).toSorted());
});

test.each([
  ["before a switchover", pausing, "4"],
  ["between two primaries", { handover: "switchover", primary: undefined, term: 4 }, "4"],
  ["until the new one accepts writes", { formerPrimary: "orders-2", term: 4 }, "4"],
  ["never otherwise", {}, undefined],
])("clients wait %s", (_when, status, pauseFor) => {
  const of = clusterWith(status);
  expect(pauseOf(pooler(), of)).toBe(pauseFor);
  expect(pauseOf(pooler({ target: "replicas" }), of)).toBeUndefined();
  const before = pooler({}, { host: "orders-1.orders.default.svc" });
  expect(wantedPooler(before, of)).toMatchObject({ host: "orders-1.orders.default.svc" });
  expect(wantedPooler(before, of)?.pauseMs !== undefined).toBe(pauseFor !== undefined);
});

test("the status says that clients wait when every pod that serves them says so", () => {
  const open = seen({ pods: [pod({ pause: "yes" }), pod({ pause: "pausing" })] }, pausing);
  expect(poolerStatus(open)).not.toHaveProperty("pausedFor");
  const held = seen({ pods: [pod({ pause: "yes" }), pod({}, false)] }, pausing);
  expect(isPaused(held)).toBe(true);
  expect(poolerStatus(held)).toMatchObject({ pausedFor: "4" });
  expect(poolerStatus(seen({ pods: [{ ...pod(), report: undefined }] }, pausing))).not.toHaveProperty("pausedFor");
});

test("a setting that the operator needs is refused by name", () => {
  expect(parameterRefusals({ auth_query: "x", default_pool_size: "5", server_reset_query: "a\nb" })).toEqual([
    { field: "spec.parameters[auth_query]", why: expect.stringContaining("the operator sets it") },
    { field: "spec.parameters[server_reset_query]", why: expect.stringContaining("line break") },
  ]);
});
