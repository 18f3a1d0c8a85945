/**
 * A node agent's rights beyond those of every kubelet are exactly what it uses: with them it is refused
 * nothing, and without any one of them it is. The agent's own parts ask an embedded server that enforces
 * them.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  EndpointSlice,
  Namespace,
  NetworkPolicy,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  Service,
} from "@setpoint/api";
import type { Transport } from "@setpoint/apimachinery";
import { type Client, createClient, type KindRef } from "@setpoint/client";
import { type ControlPlane, startControlPlane } from "@setpoint/controlplane";
import { type Host, noMetrics, silentLogger } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { KindInformer } from "../packages/process-node/src/cluster/kind-informer.ts";
import { NodeRegistration } from "../packages/process-node/src/node/node-registration.ts";
import { createFolderProvisioner } from "../packages/process-node/src/volumes/folder-provisioner.ts";
import { createPodTokens } from "../packages/process-node/src/volumes/token-source.ts";
import { type Ask, arranging, nodeUser } from "./attack/authorization.ts";

const rbac = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
const core = "/api/v1/namespaces/default";
const name = "mine";
const networkUser = {
  username: `setpoint:node-network:${name}`,
  groups: ["setpoint:node-networks", "system:authenticated"],
};

interface Rule {
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

/** The requests that were refused. */
function recording(transport: Transport, refusals: string[]): Transport {
  return {
    async send(request, signal) {
      const answer = await transport.send(request, signal);
      if (answer.status === 403) refusals.push(`${request.method} ${request.path}`);
      return answer;
    },
  };
}

const host: Host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };

/** The two requests of an informer. */
async function listAndWatch(client: Client, ...kinds: readonly KindRef[]): Promise<void> {
  for (const kind of kinds) {
    const { resourceVersion } = await client.listAll(kind);
    const stop = new AbortController();
    await client.watch(kind, { resourceVersion, signal: stop.signal }).finally(() => stop.abort());
  }
}

/** What an agent does in its life with the objects of the cluster. */
async function live(plane: ControlPlane, arrange: Ask, refusals: string[]): Promise<void> {
  const { clock } = host;
  const client = createClient(recording(plane.transportAs(nodeUser(name)), refusals), host);
  const facts = {
    name,
    address: "127.0.0.1",
    kubeletPort: 1,
    podCidr: "127.64.0.0/20",
    cpus: 1,
    memoryBytes: 2 ** 30,
    diskBytes: 2 ** 30,
    architecture: "amd64",
    kernelVersion: "1",
    osImage: "x",
    machineId: "1",
    bootId: "1",
    runtimeVersion: "x://1",
    kubeletVersion: "v1",
  };
  await using registration = new NodeRegistration({ client, clock, log: silentLogger, facts });
  await registration.register();
  await listAndWatch(client, Service, EndpointSlice);
  await using pods = new KindInformer({
    client,
    host,
    kind: Pod,
    selector: { fieldSelector: `spec.nodeName=${name}` },
    onChange: () => {},
  });
  await pods.synced;
  const folder = mkdtempSync(join(tmpdir(), "setpoint-rbac-"));
  try {
    const provisioner = createFolderProvisioner({ client, log: silentLogger, nodeName: name, directory: folder });
    const key = { namespace: "default", name: "web" };
    const pod = await client.get(Pod, key);
    await provisioner.provision(pod);
    const claim = await client.get(PersistentVolumeClaim, { namespace: "default", name: "data" });
    await client.get(PersistentVolume, { name: claim.spec.volumeName ?? "" });
    await createPodTokens(clock, client).token(pod, { path: "token" });
    await client.patch(Pod, key, { status: { phase: "Running" } }, { subresource: "status" });
    await client.delete(Pod, key, { gracePeriodSeconds: 0 });
    await arrange("PATCH", `${core}/persistentvolumeclaims/data`, { metadata: { finalizers: null } });
    await arrange("DELETE", `${core}/persistentvolumeclaims/data`);
    await provisioner.reclaim();
    const { items } = await client.listAll(PersistentVolume);
    expect(items).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const network = createClient(recording(plane.transportAs(networkUser), refusals), host);
  await listAndWatch(network, Pod, Namespace, NetworkPolicy);
}

async function arrangeWork(arrange: Ask): Promise<void> {
  await arrange("POST", `${core}/serviceaccounts`, { metadata: { name: "default" } });
  const resources = { requests: { storage: "1Mi" } };
  const claim = {
    metadata: { name: "data" },
    spec: { accessModes: ["ReadWriteOnce"], storageClassName: "folder", resources },
  };
  await arrange("POST", `${core}/persistentvolumeclaims`, claim);
  const volumes = [{ name: "d", persistentVolumeClaim: { claimName: "data" } }];
  const spec = { nodeName: name, containers: [{ name: "c", image: "i" }], volumes };
  await arrange("POST", `${core}/pods`, { metadata: { name: "web" }, spec });
}

const roles = ["setpoint:node-agent", "setpoint:node-network"] as const;

async function rulesOf(arrange: Ask, role: string): Promise<readonly Rule[]> {
  return (await arrange("GET", `${rbac}/${role}`)).object["rules"] as readonly Rule[];
}

async function liveWithout(
  take: (role: string, rules: readonly Rule[]) => readonly Rule[],
): Promise<{ refusals: string[]; failure: unknown }> {
  await using plane = await startControlPlane({ https: {}, controllers: false });
  const arrange = arranging(plane);
  for (const role of roles)
    await arrange("PATCH", `${rbac}/${role}`, { rules: take(role, await rulesOf(arrange, role)) });
  await arrangeWork(arrange);
  const refusals: string[] = [];
  const failure = await live(plane, arrange, refusals).then(
    () => undefined,
    (error: unknown) => error,
  );
  return { refusals, failure };
}

test("with their roles an agent and its network are refused nothing", async () => {
  const { refusals, failure } = await liveWithout((_, rules) => rules);
  expect(failure).toBeUndefined();
  expect(refusals).toEqual([]);
});

test("without any one of its rights an agent is refused what it needs", async () => {
  await using plane = await startControlPlane({ https: {}, controllers: false });
  const arrange = arranging(plane);
  for (const role of roles) {
    for (const [index, { verbs, resources }] of (await rulesOf(arrange, role)).entries()) {
      for (const [verb, resource] of verbs.flatMap((each) => resources.map((of) => [each, of] as const))) {
        const { refusals } = await liveWithout((taken, rules) =>
          rules.flatMap((rule, at) => {
            if (taken !== role || at !== index) return [rule];
            const rest = { ...rule, verbs: verbs.filter((each) => each !== verb) };
            const others = { ...rule, resources: resources.filter((each) => each !== resource) };
            return [rest, others].filter((each) => each.verbs.length > 0 && each.resources.length > 0);
          }),
        );
        expect(refusals, `${role} without ${verb} ${resource}`).not.toEqual([]);
      }
    }
  }
}, 120_000);
