/**
 * Which faults of real etcd make a member's pod unready. A pod without space stays ready, because it serves
 * reads: without it in the Service, clients would lose those too. The operator repairs the space, and the
 * status reports it.
 */
import type { EndpointSlice } from "@setpoint/api";
import { EndpointSlice as EndpointSlices } from "@setpoint/api";
import { request } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ClusterUnderTour } from "../examples/etcd/tour/cluster-under-tour.ts";
import { etcdClient, urlOf } from "../examples/etcd/tour/etcd-client.ts";
import { memberProcess } from "../examples/etcd/tour/member-process.ts";
import { Playground } from "./etcd/playground.ts";
import { versionsUnderTest } from "./etcd/versions.ts";

const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const tls = { mode: "Disabled" } as const;
const noticeMsMax = 30_000;

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

function post(url: string, body: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST" }, (response) => {
      let text = "";
      response.on("data", (chunk) => (text += String(chunk)));
      response.on("end", () => resolve(text));
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}

async function readyPods(cluster: ClusterUnderTour): Promise<readonly string[]> {
  return (await cluster.pods())
    .filter(({ status }) => status?.conditions?.some((each) => each.type === "Ready" && each.status === "True"))
    .map(({ metadata }) => metadata.name ?? "");
}

/** Addresses that the Service for clients or for members sends to. */
async function addresses(cluster: ClusterUnderTour, service: string): Promise<number> {
  const labelSelector = `kubernetes.io/service-name=${service}`;
  const { items } = await playground.client.listAll(EndpointSlices, { namespace: cluster.namespace, labelSelector });
  const ready = ({ endpoints }: EndpointSlice): number =>
    (endpoints ?? []).filter(({ conditions }) => conditions?.ready === true).length;
  return items.reduce((sum, slice) => sum + ready(slice), 0);
}

test.each(versionsUnderTest("3.5.16"))(
  "no member of etcd %s is ready while the alarm CORRUPT is on",
  async (version) => {
    const name = `corrupt-${version.replaceAll(".", "-")}`;
    await playground.tell(name, { size: 3, version, volumeClaimTemplate, tls }, async (cluster) => {
      const before = (await cluster.pods()).map(({ metadata }) => metadata.uid ?? "").sort();
      const [endpoint = ""] = await cluster.memberEndpoints();
      const victim = (await cluster.members()).find(({ role }) => role === "Follower");
      const alarm = { memberID: BigInt(`0x${victim?.id ?? "0"}`).toString(), alarm: "CORRUPT" };
      const set = (action: string): Promise<string> =>
        post(`${urlOf(endpoint)}/v3/maintenance/alarm`, { action, ...alarm });
      await set("ACTIVATE");
      await cluster.until("no ready pod", async () => (await readyPods(cluster)).length === 0, noticeMsMax);
      await cluster.until(
        "a Service without addresses",
        async () => (await addresses(cluster, `${name}-client`)) === 0,
      );
      expect(await addresses(cluster, name)).toBe(3);
      const isNamed = async (): Promise<boolean> =>
        (await cluster.get()).status?.waitingFor?.what.includes(`corrupt data of ${victim?.name} (alarm CORRUPT)`) ===
        true;
      await cluster.until("the status", isNamed, noticeMsMax);
      await set("DEACTIVATE");
      await cluster.until("readiness", () => cluster.isSettled(3), noticeMsMax);
      expect((await cluster.pods()).map(({ metadata }) => metadata.uid ?? "").sort()).toEqual(before);
    });
  },
);

test("a member that hangs, and one without a majority, is not ready", async () => {
  await playground.tell("hanging", { size: 3, version: "3.5.16", volumeClaimTemplate, tls }, async (cluster) => {
    await cluster.patch({ paused: true });
    await cluster.until("the pause", async () => (await cluster.get()).status?.phase === "Paused");
    const [first, second, third] = await cluster.members();
    const signal = (name: string | undefined, kind: NodeJS.Signals): void => {
      process.kill(memberProcess(name ?? ""), kind);
    };
    signal(first?.name, "SIGSTOP");
    const ready = async (): Promise<readonly string[]> => (await readyPods(cluster)).toSorted();
    const others = [second?.name ?? "", third?.name ?? ""].sort();
    await cluster.until("two ready pods", async () => String(await ready()) === String(others), noticeMsMax);
    signal(second?.name, "SIGSTOP");
    await cluster.until("no ready pod", async () => (await ready()).length === 0, noticeMsMax);
    signal(first?.name, "SIGCONT");
    signal(second?.name, "SIGCONT");
    await cluster.until("three ready pods", async () => (await ready()).length === 3, noticeMsMax);
    await cluster.patch({ paused: false });
    await cluster.until("rest", () => cluster.isSettled(3), noticeMsMax);
  });
});

test.each(versionsUnderTest("3.4.23"))(
  "members of etcd %s without space stay ready and serve reads",
  async (version) => {
    const options = { "quota-backend-bytes": String(8 * 1_048_576), "auto-compaction-retention": "0" };
    const spec = { size: 3, version, volumeClaimTemplate, tls, options } as const;
    await playground.tell(`full-${version.replaceAll(".", "-")}`, spec, async (cluster) => {
      await cluster.patch({ paused: true });
      await cluster.until("the pause", async () => (await cluster.get()).status?.phase === "Paused");
      const etcd = etcdClient(await cluster.clientEndpoint(), 5_000);
      try {
        await etcd.put("greeting", "hello");
        const refused = await etcd.put("large", "v".repeat(500_000)).then(
          () => fill(etcd),
          (error: unknown) => String(error),
        );
        expect(refused).toContain("database space exceeded");
        // Longer than three probes.
        await new Promise((resolve) => setTimeout(resolve, 6_000));
        expect(await readyPods(cluster)).toHaveLength(3);
        expect(await etcd.get("greeting")).toBe("hello");
      } finally {
        etcd.close();
      }
      const reports = async (): Promise<boolean> =>
        JSON.stringify((await cluster.get()).status?.conditions).includes("NOSPACE");
      await cluster.until("the report", reports, noticeMsMax);
      await cluster.patch({ paused: false });
      await cluster.until("space", () => cluster.isSettled(3), 60_000);
    });
  },
);

/** Overwrites a key until etcd refuses; returns its words. */
async function fill(etcd: ReturnType<typeof etcdClient>): Promise<string> {
  for (let round = 0; round < 100; round++) {
    const refusal = await etcd.put("large", "v".repeat(500_000)).then(
      () => undefined,
      (error: unknown) => String(error),
    );
    if (refusal !== undefined) return refusal;
  }
  return "it never refused";
}
