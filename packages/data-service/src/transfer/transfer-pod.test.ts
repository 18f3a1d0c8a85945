import { Pod } from "setpoint/kinds";
import { expect, test } from "vitest";
import { agentPaths, type AgentRequest, requestVariable } from "../agent/request.ts";
import { BackupStore } from "../kinds/backup-store.ts";
import { preparePod } from "../restore/prepare-pod.ts";
import { storeRequest } from "./store-mounts.ts";
import { transferPod } from "./transfer-pod.ts";
import { lostTransfer, transferResult } from "./transfer-result.ts";

const s3 = BackupStore({
  name: "s3",
  spec: {
    s3: { bucket: "b", credentialsSecret: "keys", prefix: "kept" },
    encryption: { keySecret: "seal", activeKey: "2026" },
  },
});
const claim = BackupStore({ name: "claim", spec: { claim: { claimName: "vault" } } });

function podFor(store: BackupStore, task: "backup" | "verify"): Pod {
  const target = { engine: "etcd", store: storeRequest(store), object: "a/b" };
  const request: AgentRequest =
    task === "backup" ? { task, ...target, source: { endpoints: [] } } : { task, ...target };
  const names = { name: "x-backup-1", namespace: "default", owner: "backup", image: "operator:1" };
  return transferPod({ ...names, request, store, deadlineSeconds: 60, sourceSecrets: ["client-tls"] });
}

const prepare = preparePod(
  {
    ...{ name: "x-prepare-1", namespace: "default", owner: "restore", image: "operator:1", store: s3 },
    ...{ request: { task: "fetch", engine: "etcd", store: storeRequest(s3), object: "a/b" }, deadlineSeconds: 60 },
  },
  {
    image: "etcd:1",
    command: ["etcdutl"],
    user: 65_532,
    claim: { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata: {} },
  },
  "data-x",
);

test.each([
  ["a transfer", podFor(s3, "backup")],
  ["a preparation", prepare],
])("the pod of %s has what PodSecurity restricted requires, no token, and limits", (_, { spec }) => {
  expect(spec).toMatchObject({
    automountServiceAccountToken: false,
    restartPolicy: "Never",
    activeDeadlineSeconds: 60,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } },
  });
  for (const container of [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])]) {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(container.resources?.limits?.["memory"]).toBeDefined();
  }
});

test("a pod mounts the Secrets it needs, and its request names none of their values", () => {
  const { spec } = podFor(s3, "backup");
  const secrets = spec?.volumes?.flatMap(({ secret }) => secret?.secretName ?? []);
  expect(secrets).toEqual(["keys", "seal", "client-tls"]);
  const request = spec?.containers[0]?.env?.find(({ name }) => name === requestVariable)?.value ?? "";
  expect(JSON.parse(request)).toMatchObject({
    store: { place: { type: "s3", bucket: "b" }, prefix: "kept", activeKey: "2026" },
  });
});

test("a store on a claim is mounted for writing only where something is written", () => {
  const mountOf = ({ spec }: Pod): boolean | undefined =>
    spec?.containers[0]?.volumeMounts?.find(({ mountPath }) => mountPath === agentPaths.storeClaim)?.readOnly;
  expect(mountOf(podFor(claim, "verify"))).toBe(true);
  expect(mountOf(podFor(claim, "backup"))).toBeUndefined();
});

test("the engine's tool gets the snapshot and the volume, and nothing of the store", () => {
  const [tool] = prepare.spec?.containers ?? [];
  expect(tool?.volumeMounts?.map(({ name }) => name)).toEqual(["snapshot", "data", "scratch"]);
  expect(tool?.env).toBeUndefined();
});

type Terminated = { readonly exitCode: number; readonly message?: string; readonly reason?: string };

function ended(phase: string, terminated: Terminated): Pod {
  return {
    ...podFor(claim, "verify"),
    status: { phase, containerStatuses: [{ name: "agent", state: { terminated } }] },
  } as unknown as Pod;
}

test.each([
  ["a result", ended("Succeeded", { exitCode: 0, message: '{"outcome":"done"}' }), { outcome: "done" }],
  ["no message", ended("Succeeded", { exitCode: 0 }), { reason: "NoResult", retry: true }],
  [
    "success in a pod that failed",
    ended("Failed", { exitCode: 1, message: '{"outcome":"done"}' }),
    { reason: "NoResult" },
  ],
  ["the words of another program", ended("Failed", { exitCode: 2, message: "panic" }), { reason: "NoResult" }],
])("a pod that ended with %s", (_, pod, result) => {
  expect(transferResult(pod)).toMatchObject(result);
});

test("a pod that is gone without a result is a failed attempt", () => {
  expect(lostTransfer("x")).toMatchObject({ outcome: "failed", reason: "PodLost", retry: true });
});
