/**
 * The transfer program in pods of the operator's image, against real etcd and a claim as store: the native
 * library of the store loads there, a backup goes through all four tasks, etcd's own tool accepts what comes
 * out, and no value of a Secret is in a result or a log.
 */
import { randomBytes } from "node:crypto";
import { PersistentVolumeClaim, Pod, Secret } from "@setpoint/api";
import { type Client, podLogLines } from "@setpoint/client";
import { agentPaths, type AgentResult, agentResult, requestVariable } from "@setpoint/data-service/agent";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient } from "../examples/etcd/tour/etcd-client.ts";
import { operatorImage } from "../tools/image/operator-image.ts";
import { Playground } from "./etcd/playground.ts";

const namespace = "default";
const claimName = "backups";
const secretName = "backup-keys";
const object = "etcd/default/source/first";
const folder = agentPaths.storeClaim;
const endMsMax = 60_000;

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

const security = { runAsNonRoot: true, runAsUser: 65_532, runAsGroup: 65_532, fsGroup: 65_532 };
const volumes = [
  { name: "store", persistentVolumeClaim: { claimName } },
  { name: "keys", secret: { secretName } },
  { name: "snapshot", emptyDir: {} },
];
const mounts = [
  { name: "keys", mountPath: agentPaths.encryptionSecret, readOnly: true },
  { name: "snapshot", mountPath: agentPaths.snapshotFolder },
];

/** Only a pod that writes gets the claim for writing, as the operator does it. */
const storeMount = (readOnly: boolean): object => ({ name: "store", mountPath: folder, readOnly });

interface Container {
  readonly readsOnly?: boolean;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

interface Ended {
  readonly exitCode: number;
  /** By container, the first ones first. */
  readonly messages: readonly string[];
  readonly log: string;
}

/** Runs the containers one after the other, and removes their pod. */
async function runPod(name: string, ...containers: readonly Container[]): Promise<Ended> {
  const all = containers.map(({ readsOnly = false, ...container }, index) => ({
    name: `step-${index}`,
    ...container,
    volumeMounts: [storeMount(readsOnly), ...mounts],
    terminationMessagePolicy: "FallbackToLogsOnError",
    securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
  }));
  const spec = {
    restartPolicy: "Never",
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    securityContext: security,
    volumes,
    initContainers: all.slice(0, -1),
    containers: all.slice(-1),
  };
  await client.create(Pod, Pod({ name, namespace, spec } as Parameters<typeof Pod>[0]));
  const pod = await ended(name);
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const ends = statuses.map(({ state }) => state?.terminated);
  const lines: string[] = [];
  for (const { name: container } of all) {
    const log = podLogLines(client, { namespace, name }, { container });
    for await (const line of log) lines.push(line);
  }
  await client.delete(Pod, { name, namespace });
  await gone(name);
  return {
    exitCode: ends.at(-1)?.exitCode ?? -1,
    messages: ends.map((end) => end?.message ?? ""),
    log: lines.join("\n"),
  };
}

async function ended(name: string): Promise<Pod> {
  for (const until = Date.now() + endMsMax; ;) {
    const pod = await client.get(Pod, { name, namespace });
    const phase = pod.status?.phase ?? "";
    if (phase === "Succeeded" || phase === "Failed") return pod;
    if (Date.now() > until) throw new Error(`The pod ${name} did not end: ${JSON.stringify(pod.status)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function gone(name: string): Promise<void> {
  for (const until = Date.now() + endMsMax; ;) {
    const { items } = await client.listAll(Pod, { namespace });
    if (!items.some(({ metadata }) => metadata.name === name)) return;
    if (Date.now() > until) throw new Error(`The pod ${name} was not removed`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

function transfer(task: string, more: object = {}): Container {
  const store = { place: { type: "folder", folder }, prefix: "kept", activeKey: "2026" };
  const request = { task, engine: "etcd", store, object, ...more };
  const readsOnly = task === "verify" || task === "fetch";
  return {
    readsOnly,
    image: operatorImage,
    args: ["agent"],
    env: [{ name: requestVariable, value: JSON.stringify(request) }],
  };
}

const logs: string[] = [];

async function run(task: string, more: object = {}): Promise<AgentResult> {
  const { messages, log, exitCode } = await runPod(`transfer-${task}`, transfer(task, more));
  logs.push(log, ...messages);
  const result = agentResult.parse(JSON.parse(messages[0] ?? ""));
  expect(exitCode, log).toBe(result.outcome === "done" ? 0 : 1);
  return result;
}

async function endpoints(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.pods()).map(({ status }) => `http://${status?.podIP}:2379`);
}

/** A program in a pod of the store. */
function script(text: string): Container {
  return { image: operatorImage, command: ["node", "-e", text] };
}

const part = `${folder}/kept/${object}/00000001`;

test("a backup of etcd to a claim is taken, verified, fetched for etcd's own tool, found damaged, and deleted", async () => {
  const key = randomBytes(32);
  const canaries = [key.toString("base64"), key.toString("hex"), "canary-of-the-store"];
  await client.create(
    PersistentVolumeClaim,
    PersistentVolumeClaim({
      name: claimName,
      namespace,
      spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "256Mi" } } },
    }),
  );
  const data = { "2026": key.toString("base64"), unused: Buffer.from(canaries[2] ?? "").toString("base64") };
  await client.create(Secret, Secret({ name: secretName, namespace, data }));
  await playground.tell("source", { size: 3, version: "3.5.16", tls: { mode: "Disabled" } }, async (cluster) => {
    const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
    for (let index = 0; index < 64; index++) await etcd.put(`kept-${index}`, "x".repeat(16_384));
    etcd.close();

    const source = { endpoints: ["http://10.64.0.254:2379", ...(await endpoints(cluster))] };
    const taken = await run("backup", { source });
    expect(taken).toMatchObject({
      outcome: "done",
      backup: { engine: "etcd", engineVersion: "3.5.16", encryptionKey: "2026" },
    });
    const backup = taken.outcome === "done" ? taken.backup : undefined;
    expect(Number(backup?.position)).toBeGreaterThan(64);
    expect(backup?.dataBytes).toBeGreaterThan(64 * 16_384);
    const expected = { sha256: backup?.sha256, encryptionKey: "2026" };
    expect(await run("verify", { expected })).toEqual(taken);

    const status = {
      command: ["etcdutl", "snapshot", "status", `${agentPaths.snapshotFolder}/snapshot`, "-w", "json"],
    };
    const fetched = await runPod("fetch", transfer("fetch", { expected }), {
      ...status,
      image: await etcdImage(cluster),
    });
    expect(fetched.exitCode, fetched.log).toBe(0);
    const read = JSON.parse(/^\{"hash".*\}$/m.exec(fetched.log)?.[0] ?? "{}") as { revision: number; totalKey: number };
    expect(read.revision).toBeGreaterThanOrEqual(Number(backup?.position));
    expect(read.totalKey).toBeGreaterThanOrEqual(64);

    await runPod(
      "damage",
      script(
        `const fs=require("fs");const b=fs.readFileSync("${part}");b[b.length>>1]^=1;fs.writeFileSync("${part}",b)`,
      ),
    );
    expect(await run("verify", { expected })).toMatchObject({
      outcome: "failed",
      reason: "BackupDamaged",
      retry: false,
    });
    expect(await run("delete")).toEqual({ outcome: "done" });
    expect(await run("verify")).toMatchObject({ reason: "BackupMissing" });
    const left = await runPod(
      "list",
      script(
        `console.log(JSON.stringify(require("fs").readdirSync("${folder}",{recursive:true,withFileTypes:true}).filter(e=>e.isFile()).map(e=>e.name)))`,
      ),
    );
    expect(left.log).toContain("[]");
    await client.delete(PersistentVolumeClaim, { name: claimName, namespace });
  });
  for (const canary of canaries) expect(logs.join("\n")).not.toContain(canary);
  expect(logs.join("\n")).toContain("Finished transfer");
});

async function etcdImage(cluster: ClusterUnderTour): Promise<string> {
  const [pod] = await cluster.pods();
  return pod?.spec.containers[0]?.image ?? "";
}
