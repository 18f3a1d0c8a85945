/**
 * What a user who may write EtcdClusters, and nothing else, gets from the operator's rights; in the simulated
 * world.
 */
import { Pod, Service } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { minutes } from "setpoint";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { bootstrap, claims, cluster, expectHealthy, setUp } from "./testing/etcd-stage.ts";

type Spec = Partial<EtcdCluster["spec"]>;

/** Creates a cluster with this spec past the typed builder, as `kubectl create` does. */
async function create(world: World, spec: object): Promise<void> {
  const wanted = cluster("orders", claims);
  await world.apply({ ...wanted, spec: { ...wanted.spec, ...spec } } as EtcdCluster);
}

describe("the API server refuses an EtcdCluster that sets", () => {
  test.each([
    ["the data folder by an option", { options: { "data-dir": "/" } }, "spec.options"],
    ["an owned option with a value in its name", { options: { "data-dir=/tmp/x": "" } }, "spec.options"],
    ["a file that etcd writes to", { options: { "log-outputs": "/var/lib/etcd/x" } }, "spec.options"],
    ["a file that etcd reads", { options: { "auth-token": "jwt,pub-key=/etc/passwd" } }, "spec.options"],
    ["another address to listen on", { options: { "listen-metrics-urls": "http://0.0.0.0:1" } }, "spec.options"],
    [
      "an option by its variable",
      { pod: { env: [{ name: "ETCD_FORCE_NEW_CLUSTER", value: "true" }] } },
      "spec.pod.env",
    ],
    ["a library to load", { pod: { env: [{ name: "LD_PRELOAD", value: "/x.so" }] } }, "spec.pod.env"],
    ["the operator's own variable", { pod: { env: [{ name: "POD_IP", value: "0.0.0.0" }] } }, "spec.pod.env"],
    ["an image with a tag of its own", { imageRepository: "evil/etcd:latest@sha256" }, "spec.imageRepository"],
  ])("%s", async (_, spec, field) => {
    const { world } = await setUp(41);
    await using _world = world;
    await expect(create(world, spec)).rejects.toThrow(field);
  });
});

describe("the operator starts no member and names the field of", () => {
  const refused: readonly (readonly [string, Spec, string])[] = [
    ["an image that nobody allowed", { imageRepository: "evil.example.com/etcd" }, "spec.imageRepository"],
    ["labels that another Service selects", { pod: { labels: { app: "payments" } } }, "spec.pod.labels[app]"],
    ["labels of another domain", { pod: { labels: { "etcd.setpoint.dev/member": "x" } } }, "spec.pod.labels"],
    [
      "annotations that agents of the cluster act on",
      { pod: { annotations: { "vault.hashicorp.com/agent-inject": "true" } } },
      "spec.pod.annotations[vault.hashicorp.com/agent-inject]",
    ],
    ["tolerations of everything", { pod: { tolerations: [{ operator: "Exists" }] } }, "spec.pod.tolerations[0]"],
    [
      "tolerations of control plane nodes",
      { pod: { tolerations: [{ key: "node-role.kubernetes.io/control-plane", operator: "Exists" }] } },
      "spec.pod.tolerations[0]",
    ],
    [
      "affinity to pods of other namespaces",
      {
        pod: {
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [
                { topologyKey: "kubernetes.io/hostname", namespaceSelector: {}, labelSelector: {} },
              ],
            },
          },
        },
      },
      "spec.pod.affinity",
    ],
  ];

  test.each(refused)("%s", async (_, spec, field) => {
    const { world } = await setUp(42);
    await using _world = world;
    await world.apply(Service({ name: "payments", spec: { selector: { app: "payments" }, ports: [{ port: 80 }] } }));
    await create(world, spec);
    await world.run(minutes(1));
    const present = await world.get(EtcdCluster, "orders");
    expect(await world.list(Pod)).toEqual([]);
    expect(conditionOf(present, "Accepted")).toMatchObject({ status: "False", reason: "FieldsRefused" });
    expect(conditionOf(present, "Accepted")?.message).toContain(field);
    await world.patch(EtcdCluster, "orders", { spec: { imageRepository: null, pod: null } });
    await world.settled();
    expect(conditionOf(await world.get(EtcdCluster, "orders"), "Accepted")?.status).toBe("True");
    await world.expectQuiet();
  });
});

test("a cluster that runs is healed without the fields that are refused", async () => {
  const stage = await setUp(43);
  await using world = stage.world;
  await bootstrap(stage, { ...claims, pod: { labels: { app: "payments", team: "data" } } });
  await world.apply(Service({ name: "payments", spec: { selector: { app: "payments" }, ports: [{ port: 80 }] } }));
  world.kill(stage.etcd.leader("orders") ?? "");
  await world.settled();
  await expectHealthy(stage);
  expect(conditionOf(await world.get(EtcdCluster, "orders"), "Accepted")?.status).toBe("False");
  const labels = (await world.list(Pod)).map(({ metadata }) => metadata.labels?.["app"] ?? "none");
  expect(labels.toSorted()).toEqual(["none", "payments", "payments"]);
  await world.expectQuiet();
});

test("members run as an ordinary user, as the level restricted of PodSecurity wants it", async () => {
  const stage = await setUp(44);
  await using world = stage.world;
  await bootstrap(stage, claims);
  for (const { spec } of await world.list(Pod)) {
    expect(spec?.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
    expect(spec?.containers[0]?.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    });
    expect(spec?.automountServiceAccountToken).toBe(false);
  }
});
