/** What the benchmarks write: ConfigMaps and a custom kind, by many writers at a time, and a quiet host. */
import type { JsonObject, Transport } from "@setpoint/apimachinery";
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from "@setpoint/controlplane";
import { type Host, noMetrics, silentLogger } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";

export const host: Host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };

/** A user whose rights come from a role and a binding, so that every request is really looked up. */
const writer = { username: "writer", groups: ["system:authenticated"] };

export async function start(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return startControlPlane({ host, ...options });
}

export interface Workload {
  readonly path: string;
  readonly body: (name: string) => JsonObject;
}

export const configMaps: Workload = {
  path: "/api/v1/namespaces/default/configmaps",
  body: (name) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { app: "bench", tier: "a" } },
    data: { key: "value", other: "some more text" },
  }),
};

export const candies: Workload = {
  path: "/apis/bench.example/v1/namespaces/default/candies",
  body: (name) => ({
    apiVersion: "bench.example/v1",
    kind: "Candy",
    metadata: { name, labels: { app: "bench" } },
    spec: {
      flavor: "mint",
      size: 3,
      wrappers: [
        { name: "a", color: "red" },
        { name: "b", color: "blue" },
      ],
    },
  }),
};

const text = { type: "string" };
const crd = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "candies.bench.example" },
  spec: {
    group: "bench.example",
    scope: "Namespaced",
    names: { plural: "candies", singular: "candy", kind: "Candy", listKind: "CandyList" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["flavor"],
                properties: {
                  flavor: { type: "string", enum: ["mint", "plum"] },
                  size: { type: "integer", minimum: 1, default: 1 },
                  note: { type: "string", default: "none" },
                  wrappers: {
                    type: "array",
                    items: { type: "object", required: ["name"], properties: { name: text, color: text } },
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                  },
                },
              },
              status: { type: "object", properties: { phase: text } },
            },
          },
        },
      },
    ],
  },
};

/** Installs the custom kind, and rights for the ordinary user whose transport it returns. */
export async function prepare(plane: ControlPlane): Promise<Transport> {
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" };
  const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: writer.username }];
  const aggregated = { "rbac.authorization.k8s.io/aggregate-to-edit": "true" };
  const rules = [{ apiGroups: ["bench.example"], resources: ["candies"], verbs: ["*"] }];
  await create(plane.transport, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd);
  await create(plane.transport, `${rbac}/clusterroles`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "ClusterRole",
    metadata: { name: "candies", labels: aggregated },
    rules,
  });
  await create(plane.transport, `${rbac}/namespaces/default/rolebindings`, {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "writer" },
    roleRef,
    subjects,
  });
  const transport = plane.transportAs(writer);
  for (let left = 100; left > 0; left--) {
    const { status } = await transport.send({ method: "GET", path: candies.path });
    if (status === 200) return transport;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("the custom kind is not served");
}

async function create(transport: Transport, path: string, body: JsonObject): Promise<void> {
  const { status } = await transport.send({ method: "POST", path, body });
  if (status !== 201) throw new Error(`POST ${path} answered ${status}`);
}

let made = 0;

/**
 * Creates a second: by the clock, and by the processor time of this process, which other load on the machine
 * disturbs less.
 */
export interface Rate {
  readonly perSecond: number;
  readonly perCpuSecond: number;
}

/**
 * Creates `count` objects, `writers` at a time spread over the transports, until the watches of the process
 * have seen them.
 */
export async function measureWrites(
  transports: readonly Transport[],
  { path, body }: Workload,
  count: number,
  writers: number,
): Promise<Rate> {
  let left = count;
  const write = async (_: unknown, index: number): Promise<void> => {
    const transport = transports[index % transports.length];
    while (left-- > 0)
      if (transport !== undefined) await create(transport, path, body(`object-${process.pid}-${made++}`));
  };
  const cpu = process.cpuUsage();
  const from = performance.now();
  await Promise.all(Array.from({ length: writers }, write));
  // Watches without a network run in microtasks, so all of them are through when the next turn begins.
  await new Promise((resolve) => setImmediate(resolve));
  const seconds = (performance.now() - from) / 1_000;
  const { user, system } = process.cpuUsage(cpu);
  return { perSecond: count / seconds, perCpuSecond: (count * 1e6) / (user + system) };
}

/** Updates of 100 ConfigMaps in turn, so that the number of objects stays the same. */
export async function measureUpdates(transport: Transport, count: number, writers: number): Promise<void> {
  for (let index = 0; index < 100; index++)
    await transport.send({ method: "POST", path: configMaps.path, body: configMaps.body(`updated-${index}`) });
  let left = count;
  const write = async (): Promise<void> => {
    while (left-- > 0) {
      const name = `updated-${left % 100}`;
      const body = { ...configMaps.body(name), data: { key: String(made++) } };
      const { status } = await transport.send({ method: "PUT", path: `${configMaps.path}/${name}`, body });
      if (status !== 200) throw new Error(`PUT answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  await new Promise((resolve) => setImmediate(resolve));
}
