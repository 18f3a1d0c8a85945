import { expect, test } from "vitest";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { metricsResources } from "./metrics-resources.ts";
import { resourceMetricsEndpoints } from "./resource-metrics.ts";

interface Metrics {
  readonly metadata: { readonly name: string };
  readonly window: string;
  readonly usage?: object;
  readonly containers?: readonly object[];
}
interface Seen extends Metrics {
  readonly message?: string;
  readonly kind: string;
  readonly items: readonly Metrics[];
}

const root = "/apis/metrics.k8s.io/v1beta1";
const allPods = `${root}/namespaces/default/pods`;

/** A node with the pod `a`, which uses 250 m; `b` has not started. The second agent does not answer. */
async function start() {
  const { server, host } = startServer({ builtin: [...builtinResources(), ...metricsResources] });
  const ask = asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
  const uids = new Map<string, string>();
  for (const name of ["node-1", "silent"]) await ask("POST", "/api/v1/nodes", { metadata: { name } });
  for (const name of ["a", "b", "c"]) {
    const spec = { nodeName: name === "c" ? "silent" : "node-1", containers: [{ name: "main", image: "i" }] };
    const { body } = await ask("POST", "/api/v1/namespaces/default/pods", {
      metadata: { name, labels: { app: name } },
      spec,
    });
    uids.set(name, (body.metadata as { readonly uid?: string }).uid ?? "");
  }
  const startedAtMs = host.clock.now();
  let reads = 0;
  const stats = (cores: number) => ({
    startTime: new Date(startedAtMs).toISOString(),
    cpu: {
      time: new Date(host.clock.now()).toISOString(),
      usageCoreNanoSeconds: (host.clock.now() - startedAtMs) * cores * 1e6,
    },
    memory: { workingSetBytes: 10 * 1024 * 1024 },
  });
  server.addEndpoints(
    resourceMetricsEndpoints({
      ...host,
      reader: server.reader,
      async readSummary(node) {
        if (node.metadata.name === "silent") throw new Error("connection refused");
        reads++;
        const containers = [{ name: "main", ...stats(0.25) }];
        return { node: stats(0.5), pods: [{ podRef: { uid: uids.get("a") }, containers }] };
      },
    }),
  );
  const get = async (path: string, query: Record<string, string> = {}) => {
    const asked = ask("GET", path, undefined, query);
    await host.clock.run(2_000);
    return (await asked).body;
  };
  return { get, host, reads: () => reads };
}

test("the first answer waits a second for a rate, and the next ones go on from the last sample", async () => {
  const { get, host, reads } = await start();
  const first = await get(allPods);
  expect(first.items).toMatchObject([
    {
      metadata: { name: "a" },
      window: "1s",
      containers: [{ name: "main", usage: { cpu: "250m", memory: "10240Ki" } }],
    },
  ]);
  expect(reads()).toBe(2);
  await get(`${root}/nodes`);
  expect(reads()).toBe(2);
  await host.clock.run(15_000);
  const [node] = (await get(`${root}/nodes`)).items;
  expect(node).toMatchObject({ metadata: { name: "node-1" }, usage: { cpu: "500m", memory: "10240Ki" } });
  expect(reads()).toBe(3);
});

test("one object, and a selection of them", async () => {
  const { get } = await start();
  expect(await get(`${allPods}/a`)).toMatchObject({
    kind: "PodMetrics",
    metadata: { name: "a", namespace: "default" },
  });
  expect((await get(`${allPods}/b`)).message).toBe('pods.metrics.k8s.io "default/b" not found');
  expect((await get(`${root}/nodes/none`)).message).toBe('nodes.metrics.k8s.io "none" not found');
  expect((await get(allPods, { labelSelector: "app=b" })).items).toEqual([]);
  expect((await get(`${root}/pods`, { fieldSelector: "metadata.name=a" })).items).toHaveLength(1);
});
