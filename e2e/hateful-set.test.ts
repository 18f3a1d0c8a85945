/**
 * A HatefulSet at level 10 against a real etcd cluster with a ledger: nothing that was acknowledged is lost,
 * and what it records agrees with the status of the EtcdCluster. One minute here; `npm run e2e:chaos` takes
 * ten.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Deployment, type Pod } from "@setpoint/api";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { chaosNames, HatefulSet } from "../operators/hateful-set/src/index.ts";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { applyFile } from "../examples/etcd/install.ts";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { checkHashes } from "../examples/etcd/tour/steps.ts";
import { Playground } from "./etcd/playground.ts";

const manifests = new URL("../operators/hateful-set/manifests/install.yaml", import.meta.url).pathname;
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const minutes = Number(process.env["CHAOS_MINUTES"] ?? 1);
const sampleMs = 100;
/** Between what the EtcdCluster said and what was recorded of it. */
const slackMs = 5_000;
/** An image is built first, and the machine may be busy. */
const startMsMax = 240_000;
const recoveryMsMax = 120_000;
const hashMsMax = 60_000;

type Act = NonNullable<NonNullable<HatefulSet["status"]>["acts"]>[number];

/** What the EtcdCluster said of itself at a time, and its pods. */
interface Sample {
  readonly atMs: number;
  readonly isWhole: boolean;
}

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

const chaos = { name: "chaos", namespace: "default" };

async function statusOf(): Promise<Partial<NonNullable<HatefulSet["status"]>>> {
  return (await playground.client.get(HatefulSet, chaos)).status ?? {};
}

async function install(cluster: ClusterUnderTour): Promise<void> {
  await applyFile(playground.client, manifests);
  const operator = { name: "hateful-set-operator", namespace: "setpoint-system" };
  const isReady = async (): Promise<boolean> =>
    (await playground.client.get(Deployment, operator)).status?.readyReplicas === 1;
  await cluster.until("the start of the operator", isReady, startMsMax);
  const optIn = { metadata: { labels: { [chaosNames.chaos]: "enabled" } } };
  await playground.client.patch(EtcdCluster, { name: cluster.name, namespace: cluster.namespace }, optIn);
}

/** Looks on until the time is over and the last act has ended. */
async function lookOn(cluster: ClusterUnderTour): Promise<{ samples: Sample[]; acts: Act[]; pods: Set<string> }> {
  const samples: Sample[] = [];
  const acts = new Map<string, Act>();
  const pods = new Set<string>();
  const endMs = Date.now() + minutes * 60_000;
  let isEnding = false;
  for (;;) {
    const [{ status }, own, members] = await Promise.all([cluster.get(), statusOf(), cluster.pods()]);
    const isWhole = status?.phase === "Running" && status.readyMembers === 3;
    samples.push({ atMs: Date.now(), isWhole });
    for (const act of own.acts ?? []) acts.set(act.id, act);
    for (const { metadata } of members as readonly Pod[]) pods.add(metadata.uid ?? "");
    const isUnderWay = own.acts?.some(({ phase }) => phase === "Intended" || phase === "Struck") ?? false;
    if (isEnding && !isUnderWay) return { samples, acts: [...acts.values()], pods };
    if (Date.now() > endMs + recoveryMsMax) throw new Error("The last act has not ended");
    if (!isEnding && Date.now() > endMs) {
      isEnding = true;
      await playground.client.patch(HatefulSet, chaos, { spec: { chaosLevel: 0 } });
    }
    await sleep(sampleMs);
  }
}

function covers({ at, recoveredAfterSeconds = 0 }: Act, { atMs }: Sample): boolean {
  const fromMs = Date.parse(at);
  return atMs > fromMs - slackMs && atMs < fromMs + recoveredAfterSeconds * 1_000 + slackMs;
}

const timeout = minutes * 60_000 + 600_000;

test("chaos at level 10 costs an etcd cluster no write, and its records are true", { timeout }, async () => {
  await playground.tell("orders", { size: 3, version: "3.5.16", volumeClaimTemplate }, async (cluster, writer) => {
    await install(cluster);
    const spec = {
      ...{ chaosLevel: 10, interval: 15, seed: 7, budget: { acts: 1_000, seconds: 3_600 } },
      targets: [{ type: "Role" as const, role: "leader" }, { type: "Pod" as const }],
    };
    await playground.client.create(HatefulSet, HatefulSet({ ...chaos, spec }));
    const { samples, acts, pods } = await lookOn(cluster);
    const { total, recovered, slowestRecoverySeconds } = await statusOf();
    const leaders = acts.filter(({ role }) => role === "Leader").length;
    console.log(
      `${total} acts in ${minutes} min, ${leaders} on the leader; slowest recovery ${slowestRecoverySeconds} s; ${writer.acknowledged} writes acknowledged, longest gap ${Math.round(writer.gapMs)} ms`,
    );
    for (const { id, victim, role, recoveredAfterSeconds, said = [] } of acts)
      console.log(
        `${id} ${victim.name} ${role}: ${recoveredAfterSeconds} s: ${said.map(({ text }) => text).join(" / ")}`,
      );
    expect(total).toBeGreaterThanOrEqual(minutes);
    expect(recovered).toBe(total);
    expect(acts).toHaveLength(total ?? 0);
    expect(new Set(acts.map(({ phase }) => phase))).toEqual(new Set(["Recovered"]));
    // Each pod that ended was a victim, and each victim ended.
    expect([...pods].filter((uid) => acts.some(({ victim }) => victim.uid === uid))).toHaveLength(total ?? 0);
    expect(pods.size).toBe(3 + (total ?? 0));
    const degraded = samples.filter(({ isWhole }) => !isWhole);
    expect(acts.filter((act) => !degraded.some((sample) => covers(act, sample))).map(({ id }) => id)).toEqual([]);
    expect(degraded.filter((sample) => !acts.some((act) => covers(act, sample)))).toEqual([]);
    for (const { said = [] } of acts) {
      expect(said[0]?.text).toContain("3 of 3 members healthy");
      expect(said.at(-1)?.text).toContain("3 of 3 members healthy");
    }
    // A member that has just come back may be too busy to answer at once.
    await vi.waitFor(() => checkHashes(cluster, 3), { timeout: hashMsMax, interval: 1_000 });
  });
});
