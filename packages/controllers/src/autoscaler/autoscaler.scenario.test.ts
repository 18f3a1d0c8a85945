import { CustomResourceDefinition, Deployment, HorizontalPodAutoscaler, Pod } from "@setpoint/api";
import { createKind, type KubeObject } from "@setpoint/apimachinery";
import { simulate, type World } from "@setpoint/testing";
import { expect, test } from "vitest";

const namespace = "default";
const labels = { app: "web" };

interface PodMetrics extends KubeObject {
  readonly timestamp: string;
  readonly window: string;
  readonly containers: readonly { readonly name: string; readonly usage: Readonly<Record<string, string>> }[];
}
const PodMetrics = createKind<PodMetrics>({
  group: "metrics.k8s.io",
  version: "v1beta1",
  kind: "PodMetrics",
  plural: "pods",
  namespaced: true,
});

/** A world has no nodes that measure: the test writes what they would answer. */
const measured = CustomResourceDefinition({
  name: "pods.metrics.k8s.io",
  annotations: { "api-approved.kubernetes.io": "unapproved, for a test" },
  spec: {
    group: "metrics.k8s.io",
    scope: "Namespaced",
    names: { kind: "PodMetrics", plural: "pods", singular: "podmetrics" },
    versions: [
      {
        name: "v1beta1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

const web = Deployment({
  name: "web",
  namespace,
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu: "100m" } } }] },
    },
  },
});

const autoscaler = (spec: object = {}): HorizontalPodAutoscaler =>
  HorizontalPodAutoscaler({
    name: "web",
    namespace,
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" },
      minReplicas: 2,
      maxReplicas: 5,
      ...spec,
    },
  });

/** Every pod of the Deployment uses so much from now on. */
async function use(world: World, milli: number): Promise<void> {
  for (const { metadata } of await world.list(Pod)) {
    const { name } = metadata;
    const usage = { cpu: `${milli}m`, memory: "1Mi" };
    // Far ahead, so that the pod was ready during the whole window.
    const sample = { timestamp: "2030-01-01T00:00:00Z", window: "15s", containers: [{ name: "web", usage }] };
    await world.apply(PodMetrics({ name, namespace, labels, ...sample }));
  }
}

async function start(spec: object = {}): Promise<World> {
  const world = await simulate({ seed: 1 });
  await world.apply(measured);
  await world.apply(web);
  await world.until("two pods", async () => (await world.get(Deployment, "web")).status?.readyReplicas === 2);
  await use(world, 80);
  await world.apply(autoscaler(spec));
  return world;
}

async function untilReplicas(world: World, replicas: number, seconds = 60): Promise<void> {
  await world.until(
    `${replicas} replicas`,
    async () => (await world.get(Deployment, "web")).spec?.replicas === replicas,
    { within: seconds * 1_000 },
  );
}

async function conditions(world: World): Promise<readonly string[]> {
  const { status } = await world.get(HorizontalPodAutoscaler, "web");
  return (status?.conditions ?? []).map((each) => `${each.type} ${each.status} ${each.reason}`);
}

test("a Deployment grows with its load up to the maximum, and shrinks after five minutes", async () => {
  await using world = await start();
  await world.run(60_000);
  expect(await conditions(world)).toEqual([
    "AbleToScale True ReadyForNewScale",
    "ScalingActive True ValidMetricFound",
    "ScalingLimited False DesiredWithinRange",
  ]);
  await use(world, 400);
  await untilReplicas(world, 4);
  await untilReplicas(world, 5);
  await world.run(60_000);
  expect(await conditions(world)).toContain("ScalingLimited True TooManyReplicas");
  await use(world, 10);
  await world.run(200_000);
  expect(await conditions(world)).toContain("AbleToScale True ScaleDownStabilized");
  await untilReplicas(world, 2, 200);
  const { status } = await world.get(HorizontalPodAutoscaler, "web");
  expect(status?.currentMetrics).toMatchObject([
    { type: "Resource", resource: { name: "cpu", current: { averageUtilization: 10, averageValue: "10m" } } },
  ]);
});

test("a target outside of minimum and maximum is scaled without metrics", async () => {
  await using world = await start({ minReplicas: 3 });
  await untilReplicas(world, 3);
  await world.patch(Deployment, "web", { spec: { replicas: 9 } });
  await untilReplicas(world, 5);
});

test("a target at zero stays there", async () => {
  await using world = await start();
  await world.patch(Deployment, "web", { spec: { replicas: 0 } });
  await world.run(60_000);
  expect(await conditions(world)).toContain("ScalingActive False ScalingDisabled");
  expect((await world.get(Deployment, "web")).spec?.replicas).toBe(0);
});

test("a target that is not there, and a metric that nobody measures, are conditions", async () => {
  await using world = await start({ metrics: [resource("memory")] });
  await world.run(30_000);
  expect(await conditions(world)).toEqual([
    "AbleToScale True SucceededGetScale",
    "ScalingActive False FailedGetResourceMetric",
  ]);
  const { status } = await world.get(HorizontalPodAutoscaler, "web");
  expect(status?.conditions?.[1]?.message).toMatch(
    /^the HPA was unable to compute the replica count: failed to get memory utilization: missing request for memory in container web of Pod web-/,
  );
  await world.delete(Deployment, "web");
  await world.run(30_000);
  expect(await conditions(world)).toContain("AbleToScale False FailedGetScale");
});

test("a metric that fails keeps the others from shrinking the target, not from growing it", async () => {
  await using world = await start({
    metrics: [resource("cpu"), resource("memory")],
    behavior: { scaleDown: { stabilizationWindowSeconds: 0 } },
  });
  await use(world, 160);
  await untilReplicas(world, 4);
  await world.run(30_000);
  await use(world, 10);
  await world.run(60_000);
  expect((await world.get(Deployment, "web")).spec?.replicas).toBe(4);
});

function resource(name: string): object {
  return { type: "Resource", resource: { name, target: { type: "Utilization", averageUtilization: 80 } } };
}
