/** A wait that gives up says why the last attempt failed. */
import type { Client } from "@setpoint/client";
import { expect, test } from "vitest";
import { showUntilRunning } from "./progress.ts";
import { type AddressFromHere, ClusterUnderTour, mirrorOnLoopback } from "./tour/cluster-under-tour.ts";

const running = {
  metadata: { generation: 1 },
  spec: { size: 3 },
  status: { phase: "Running", readyMembers: 3, observedGeneration: 1, members: [] },
};

/** A cluster that reports to be well; its Service has an address of this kind. */
function clusterAt(clusterIP: string, addressFromHere?: AddressFromHere): ClusterUnderTour {
  const client = {
    get: ({ kind }: { readonly kind: string }) =>
      Promise.resolve(kind === "Service" ? { spec: { clusterIP } } : running),
    listAll: () => Promise.resolve({ items: [{ metadata: { name: "a" }, status: { podIP: clusterIP } }] }),
  } as unknown as Client;
  return new ClusterUnderTour(client, "orders", "default", { name: "o", namespace: "o" }, addressFromHere);
}

test("a cluster that runs but is not reached ends the wait with the address and the refused connection", async () => {
  const waited = showUntilRunning(clusterAt("10.96.0.9"), () => {}, 300);
  await expect(waited).rejects.toThrow(
    /is not running after 0\.3 s: Running: 3 of 3 members ready, but a client at http:\/\/127\.96\.0\.9:2379 gets no answer: .*ECONNREFUSED/,
  );
});

test("a step that throws until its time is over ends with its last error", async () => {
  const cluster = clusterAt("10.96.0.9");
  const waited = cluster.until("a wonder", () => Promise.reject(new Error("it rains")), 200);
  await expect(waited).rejects.toThrow(/a wonder did not happen within 0\.2 s; .*; the last attempt failed: it rains/);
});

test("a step that waits for members that do not answer ends with their last error", async () => {
  const cluster = clusterAt("127.96.0.9", (address) => address);
  const waited = cluster.until("answers", async () => (await cluster.etcdStatuses()).length === 1, 200);
  await expect(waited).rejects.toThrow(/without an answer: http:\/\/127\.96\.0\.9:2379: .*ECONNREFUSED/);
  await expect(cluster.etcdMembers()).rejects.toThrow(/no member of etcd answers; .*ECONNREFUSED/);
});

test("only the addresses of `setpoint up` have mirrors, and another cluster is reached at its own", async () => {
  expect(["10.96.1.2", "10.64.1.2", "10.244.0.3", "192.168.1.2"].map(mirrorOnLoopback)).toEqual([
    "127.96.1.2",
    "127.64.1.2",
    "10.244.0.3",
    "192.168.1.2",
  ]);
  const cluster = clusterAt("10.96.0.9", (address) => address);
  expect(await cluster.beside("copy").clientEndpoint()).toBe("http://10.96.0.9:2379");
});
