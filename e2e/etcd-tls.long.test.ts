/**
 * TLS with the real etcd: who is let in, and that certificates and their authority are replaced without a
 * restart (A9: TestTLS).
 */
import { Pod, Secret } from "@setpoint/api";
import { x509Issuer } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient, type EtcdEndpoint, type SecureEndpoint } from "../examples/etcd/tour/etcd-client.ts";
import type { LedgerWriter } from "../examples/etcd/tour/ledger-writer.ts";
import { peerCertificate } from "./etcd/peer-certificate.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const on = { tls: { mode: "Enabled" } } as const;
/** Nodes update mounted Secrets within this time. */
const updateMsMax = 150_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function secureEndpoint(cluster: ClusterUnderTour): Promise<SecureEndpoint> {
  const endpoint = await cluster.clientEndpoint();
  if (typeof endpoint === "string") throw new Error("the cluster has no TLS");
  return endpoint;
}

async function greet(endpoint: EtcdEndpoint): Promise<string | undefined> {
  const etcd = etcdClient(endpoint, 3_000);
  try {
    await etcd.put("greeting", "hello");
    return await etcd.get("greeting");
  } finally {
    etcd.close();
  }
}

/** A client certificate of an authority that the cluster does not know. */
function stranger(endpoint: SecureEndpoint): SecureEndpoint {
  const ports = { clock: systemClock, random: systemRandom };
  const authority = x509Issuer.createAuthority({ commonName: "stranger", lifetimeMs: 3_600_000 }, ports);
  const pair = x509Issuer.issue(authority, { commonName: "etcd-client", hosts: [], lifetimeMs: 3_600_000 }, ports);
  return { ...endpoint, ...pair };
}

/** What shows that no process was restarted. */
async function processes(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.pods())
    .map(({ metadata, status }) => `${metadata.uid} ${status?.containerStatuses?.[0]?.containerID}`)
    .sort();
}

/** The writer, which has the certificate of the beginning, goes on. */
async function moreWrites(cluster: ClusterUnderTour, writer: LedgerWriter): Promise<void> {
  const before = writer.acknowledged;
  await cluster.until("more writes", async () => writer.acknowledged > before + 100);
}

async function servedCertificates(cluster: ClusterUnderTour): Promise<readonly string[]> {
  const endpoints = await cluster.memberEndpoints();
  return Promise.all(endpoints.map((endpoint) => peerCertificate(endpoint as SecureEndpoint)));
}

test.each(versionsUnderTest("3.4.23"))(
  "etcd %s lets in clients with its authority's certificate and nobody else",
  async (version) => {
    await playground.tell(`tls-${version.slice(2, 3)}`, { size: 3, version, ...on }, async (cluster) => {
      const endpoint = await secureEndpoint(cluster);
      expect(await greet(endpoint)).toBe("hello");
      await expect(greet(endpoint.url.replace("https:", "http:"))).rejects.toThrow();
      await expect(greet(stranger(endpoint))).rejects.toThrow();
      const { items } = await playground.client.listAll(Pod, { namespace: "default", labelSelector: cluster.selector });
      expect(items.every(({ spec }) => spec?.containers[0]?.args?.includes("--peer-client-cert-auth=true"))).toBe(true);
    });
  },
);

test(
  "certificates and their authority are replaced under writes, and no member is restarted",
  { timeout: 400_000 },
  async () => {
    const spec = { size: 3, version: "3.5.16", volumeClaimTemplate, ...on } as const;
    await playground.tell("rotation", spec, async (cluster, writer) => {
      const before = await processes(cluster);
      const first = await servedCertificates(cluster);
      const old = await secureEndpoint(cluster);
      const key = { name: cluster.name, namespace: "default" };

      // Leaf certificates: a Secret that is gone is issued again, with the next change of the cluster.
      await playground.client.delete(Secret, { name: `${cluster.name}-server-tls`, namespace: "default" });
      await playground.client.patch(EtcdCluster, key, { metadata: { annotations: { touched: "once" } } });
      const isRenewed = async (): Promise<boolean> =>
        (await servedCertificates(cluster)).every((each) => !first.includes(each));
      await cluster.until("the new certificates", isRenewed, updateMsMax);
      const second = await servedCertificates(cluster);
      await moreWrites(cluster, writer);

      const annotations = { "etcd.setpoint.dev/rotate-certificates": "now" };
      await playground.client.patch(EtcdCluster, key, { metadata: { annotations } });
      const isRotated = async (): Promise<boolean> =>
        (await servedCertificates(cluster)).every((each) => !second.includes(each));
      await cluster.until("certificates of the new authority", isRotated, updateMsMax);

      expect(await greet(await secureEndpoint(cluster))).toBe("hello");
      await moreWrites(cluster, writer);
      // The overlap: a client that has not yet read its new certificate is let in.
      expect(await greet(old)).toBe("hello");
      expect(await processes(cluster)).toEqual(before);
      expect((await cluster.get()).status?.readyMembers).toBe(3);
      console.log(`${writer.acknowledged} writes, longest gap ${Math.round(writer.gapMs)} ms`);
    });
  },
);
