/**
 * The etcd operator's rights are exactly what it uses: with them it is refused nothing, and without any one
 * of them it is. In the simulated world, whose API server enforces RBAC, also on owner references.
 */
import { ClusterRole, Deployment, Lease, PersistentVolumeClaim, Role } from "@setpoint/api";
import { EtcdCluster, EtcdMirror, etcdOperator } from "@setpoint/etcd-operator";
import {
  AcceptanceRun,
  Backup,
  BackupPlan,
  BackupStore,
  dataLabels,
  Operation,
  Restore,
  RestoreDrill,
  ServiceBinding,
  simulatedIssuer,
} from "@setpoint/data-service";
import { EtcdModel, simulate, simulatedOperatorImage, TransferModel, type World } from "@setpoint/testing";
import { type KubeObject, type Operator, minutes, seconds } from "setpoint";
import { expect, test } from "vitest";
import { simulatedGateway } from "../operators/etcd/src/testing/simulated-gateway.ts";
import { endpointsOf, simulatedValues } from "../operators/etcd/src/testing/simulated-values.ts";

type Rule = Operator["rules"][number];

/** A right that can be taken away: one verb of one rule. */
interface Right {
  readonly role: "rules" | "ownRules";
  readonly rule: number;
  readonly verb: string;
}

const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name: "orders" };
const storage = { requests: { storage: "1Gi" } };
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: storage };

const etcd = etcdOperator(
  simulatedGateway(new EtcdModel(), { call: (_what, _kind, send) => send() }),
  {},
  simulatedOperatorImage,
);

/**
 * Reads that this server never makes necessary: `list`, where a server cannot begin a watch with the present
 * objects, and `get`, to see whose an object is that a creation finds there. Definitions and Secrets are read
 * by `get`.
 */
function isForOtherServers({ verb, role, rule }: Right): boolean {
  if (role !== "rules") return false;
  const { resources = [] } = etcd.rules[rule] ?? {};
  if (resources.some((each) => ["customresourcedefinitions", "secrets"].includes(each))) return verb === "list";
  return verb === "get" || verb === "list";
}

const rights = (["rules", "ownRules"] as const).flatMap((role) =>
  etcd[role].flatMap(({ verbs }, rule) => verbs.map((verb): Right => ({ role, rule, verb }))),
);

function nameOf({ role, rule, verb }: Right): string {
  const { apiGroups = [], resources = [] } = etcd[role][rule] ?? {};
  return `${verb} ${[resources.join(), apiGroups.join()].filter((part) => part !== "").join(".")}`;
}

function without(rules: readonly Rule[], { rule, verb }: Right): readonly Rule[] {
  return rules
    .map((each, i) => (i === rule ? { ...each, verbs: each.verbs.filter((other) => other !== verb) } : each))
    .filter(({ verbs }) => verbs.length > 0);
}

/**
 * Everything that the operator promises: start, grow, shrink, heal, upgrade, put labels back, come back after
 * a crash, end.
 */
async function live(world: World, model: EtcdModel): Promise<void> {
  await world.apply(EtcdCluster({ name: "orders", spec: { size: 3, version: "3.4.23", volumeClaimTemplate } }));
  await world.settled();
  await world.patch(EtcdCluster, "orders", { spec: { size: 5 } });
  await world.settled();
  await world.patch(EtcdCluster, "orders", { spec: { size: 3 } });
  await world.settled();
  world.kill(model.leader("orders") ?? "");
  await world.settled({ within: minutes(5) });
  // The same event twice: the second one makes it a series.
  for (let time = 0; time < 2; time++) await editVolume(world);
  await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
  await world.settled({ within: minutes(5) });
  await world.patch(EtcdCluster, "orders", {
    metadata: { annotations: { "etcd.setpoint.dev/rotate-certificates": "now" } },
  });
  await world.settled();
  const { status } = await world.get(EtcdCluster, "orders");
  expect(status).toMatchObject({ phase: "Running", readyMembers: 3, currentVersion: "3.5.16" });
  await switchOver(world, model);
  await backUpAndRestore(world, model);
  await bind(world, model);
  await mirror(world);
  await world.delete(EtcdCluster, "orders");
  await world.settled();
  expect(await world.list(EtcdCluster)).toEqual([]);
  await accept(world);
}

/** A run that creates and removes what the rest of the life does not: bindings and stores. */
async function accept(world: World): Promise<void> {
  const target = { apiGroup: EtcdCluster.group, kind: EtcdCluster.kind };
  const checks = ["binding", "damaged-backup-refused"] as const;
  await world.apply(AcceptanceRun({ name: "proof", spec: { target, checks: [...checks], checkTimeoutSeconds: 120 } }));
  await world.run(minutes(4));
  const { status } = await world.get(AcceptanceRun, "proof");
  expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", passed: 4 });
  await world.delete(AcceptanceRun, "proof");
  await world.settled();
  expect(await world.list(AcceptanceRun)).toEqual([]);
}

/** An Operation that is carried out, and deleted after its time. */
async function switchOver(world: World, model: EtcdModel): Promise<void> {
  const { status } = await world.get(EtcdCluster, "orders");
  const heir = status?.members.find(({ role }) => role === "Follower")?.name ?? "";
  await world.apply(
    Operation({ name: "switch", spec: { instance, type: "Switchover", member: heir, ttlSecondsAfterFinished: 60 } }),
  );
  await world.run(seconds(30));
  expect((await world.get(Operation, "switch")).status).toMatchObject({ phase: "Succeeded" });
  expect(model.leader("orders")).toBe(heir);
  await world.run(minutes(2));
  expect(await world.list(Operation)).toEqual([]);
}

/** Plans, backups, restores that succeed and are taken back, and drills. */
async function backUpAndRestore(world: World, model: EtcdModel): Promise<void> {
  const retention = { keepLast: 1 };
  model.mayStopAll = true;
  await world.apply(
    PersistentVolumeClaim({
      name: "vault",
      labels: { [dataLabels.backupStore]: "true" },
      spec: { accessModes: ["ReadWriteOnce"], resources: storage },
    }),
  );
  await world.apply(BackupStore({ name: "vault", spec: { claim: { claimName: "vault" } } }));
  await world.apply(
    BackupPlan({ name: "often", spec: { instance, store: "vault", schedule: "* * * * *", retention } }),
  );
  await world.run(minutes(3));
  await world.patch(BackupPlan, "often", { spec: { suspend: true } });
  await world.settled();
  const [backup] = await world.list(Backup);
  expect(backup?.status).toMatchObject({ phase: "Succeeded" });
  await world.apply(RestoreDrill({ name: "proof", spec: { instance, schedule: "* * * * *" } }));
  await world.run(minutes(4));
  await world.patch(RestoreDrill, "proof", { spec: { suspend: true } });
  await world.settled();
  expect((await world.get(RestoreDrill, "proof")).status).toMatchObject({ lastOutcome: "Succeeded" });
  const source = { backup: backup?.metadata.name ?? "" };
  await world.apply(Restore({ name: "back", spec: { instance, source, inPlace: {} } }));
  await world.settled();
  expect((await world.get(Restore, "back")).status).toMatchObject({ phase: "Succeeded" });
  for (const kind of [Restore, RestoreDrill, BackupPlan, Backup])
    for (const { metadata } of await world.list<KubeObject>(kind)) await world.delete(kind, metadata.name ?? "");
  await world.settled();
  expect(await world.list(Backup)).toEqual([]);
}

/** A binding gets a login, which is rotated and dropped. */
async function bind(world: World, model: EtcdModel): Promise<void> {
  await world.patch(EtcdCluster, "orders", { spec: { auth: { enabled: true } } });
  await world.settled();
  await world.apply(ServiceBinding({ name: "shop", spec: { instance, rotation: { overlap: "1m" } } }));
  await world.settled();
  await world.patch(ServiceBinding, "shop", { spec: { rotation: { request: "now" } } });
  await world.run(minutes(3));
  const { status } = await world.get(ServiceBinding, "shop");
  expect(status?.logins).toMatchObject([{ generation: 2, state: "Active" }]);
  await world.delete(ServiceBinding, "shop");
  await world.settled();
  const [member] = model.members("orders");
  expect(Object.keys(member?.data.auth.users ?? {})).toEqual(["root"]);
}

/** A mirror gets its Deployment, which follows its spec, and takes it along. */
async function mirror(world: World): Promise<void> {
  const source = { external: { endpoints: ["http://10.255.0.1:2379"] } };
  await world.apply(EtcdMirror({ name: "follow", spec: { source, cluster: "orders" } }));
  await world.settled();
  expect((await world.get(EtcdMirror, "follow")).status).toMatchObject({ phase: "Starting" });
  await world.patch(EtcdMirror, "follow", { spec: { existingKeys: "Replace" } });
  await world.settled();
  expect(JSON.stringify((await world.get(Deployment, "follow-mirror")).spec)).toContain('replacesKeys\\":true');
  await world.delete(EtcdMirror, "follow");
  await world.settled();
  expect(await world.list(EtcdMirror)).toEqual([]);
  expect(await world.list(Deployment)).toEqual([]);
}

/** A user changes a label of a volume by hand; the operator restores it. */
async function editVolume(world: World): Promise<void> {
  const [claim] = await world.list(PersistentVolumeClaim);
  const [label, value] = Object.entries(claim?.metadata.labels ?? {})[0] ?? ["", ""];
  const name = claim?.metadata.name ?? "";
  await world.patch(PersistentVolumeClaim, name, { metadata: { labels: { [label]: "edited" } } });
  await world.settled();
  expect((await world.get(PersistentVolumeClaim, name)).metadata.labels?.[label]).toBe(value);
}

interface Outcome {
  /** Answers 403 to the operator. */
  readonly refusals: readonly string[];
  readonly failure: Error | undefined;
}

/** The operator's life, from its first lease, with all its rights but one. */
async function liveWithout(right: Right | undefined): Promise<Outcome> {
  const model = new EtcdModel();
  const transfers = new TransferModel(
    { etcd: (source) => model.snapshot(endpointsOf(source)) },
    { etcd: simulatedValues(model) },
  );
  await using world = await simulate({
    seed: 5,
    models: [model, transfers],
    operators: [
      (process) => etcdOperator(simulatedGateway(model, process), {}, simulatedOperatorImage, simulatedIssuer),
    ],
    leaderElection: true,
  });
  await world.run(seconds(5));
  world.stopOperator();
  const [lease] = await world.list(Lease);
  if (lease !== undefined) await world.delete(Lease, lease.metadata);
  if (right?.role === "rules") await world.patch(ClusterRole, "etcd-operator", { rules: without(etcd.rules, right) });
  if (right?.role === "ownRules")
    await world.patch(
      Role,
      { name: "etcd-operator", namespace: "operators" },
      { rules: without(etcd.ownRules, right) },
    );
  const failure = await world
    .restartOperator()
    .then(() => live(world, model))
    .then(() => undefined)
    .catch((error: unknown) => error as Error);
  return { refusals: world.trace.filter((line) => / etcd .* → 403/.test(line)), failure };
}

test("with its role the operator is refused nothing", async () => {
  const { refusals, failure } = await liveWithout(undefined);
  expect(failure).toBeUndefined();
  expect(refusals).toEqual([]);
});

test.each(rights.filter((right) => !isForOtherServers(right)).map((right) => [nameOf(right), right] as const))(
  "without the right to %s the operator is refused what it needs",
  async (name, right) => {
    const { refusals, failure } = await liveWithout(right);
    expect(refusals).not.toEqual([]);
    // People read events; without them, and without their counts, the cluster works all the same.
    if (!name.includes("events")) expect(failure).toBeDefined();
  },
);
