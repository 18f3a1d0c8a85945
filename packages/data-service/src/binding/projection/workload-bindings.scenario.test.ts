/** Bindings in workloads, in the simulated world. */
import { CronJob, Deployment, type PodTemplateSpec, Secret } from "setpoint/kinds";
import { conditionOf, simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { ServiceBinding } from "../../kinds/service-binding.ts";
import { WorkloadBinding } from "../../kinds/workload-binding.ts";
import { modelOperator, ModelUsers, Shelf } from "../model-engine.fixture.ts";
import { serviceBindingOperator } from "./workload-bindings.ts";

const labels = { app: "shop" };
const mayBeProjected = { "data.setpoint.dev/workload-binding": "true" };
const template = { metadata: { labels }, spec: { containers: [{ name: "app", image: "shop:1" }] } };

function shop(name = "shop", pods: PodTemplateSpec = template): Deployment {
  return Deployment({ name, labels, spec: { replicas: 1, selector: { matchLabels: labels }, template: pods } });
}

async function mountsOf(world: World, name = "shop"): Promise<readonly string[]> {
  const { spec } = await world.get(Deployment, name);
  return spec?.template.spec?.containers[0]?.volumeMounts?.map(({ mountPath }) => mountPath) ?? [];
}

const workload = { apiVersion: "apps/v1", kind: "Deployment", name: "shop" };

async function setUp(seed: number): Promise<World> {
  const model = new ModelUsers();
  return simulate({ seed, operators: [(process) => modelOperator(model, process), serviceBindingOperator] });
}

test("a Secret is projected into a Deployment, and removed with the binding", async () => {
  await using world = await setUp(1);
  await world.apply(shop());
  await world.settled();
  const before = (await world.get(Deployment, "shop")).spec?.template;
  await world.apply(Secret({ name: "login", labels: mayBeProjected, stringData: { username: "me" } }));
  const service = { apiVersion: "v1", kind: "Secret", name: "login" };
  await world.apply(
    WorkloadBinding({ name: "orders", spec: { service, workload, env: [{ name: "USER", key: "username" }] } }),
  );
  await world.settled();
  expect(await mountsOf(world)).toEqual(["/bindings/orders"]);
  const bound = await world.get(WorkloadBinding, "orders");
  expect(bound.status?.binding).toEqual({ name: "login" });
  expect(conditionOf(bound, "Ready")?.status).toBe("True");
  await world.expectQuiet();
  await world.delete(WorkloadBinding, "orders");
  await world.settled();
  const after = await world.get(Deployment, "shop");
  expect(after.spec?.template).toEqual(before);
  expect(Object.keys(after.metadata.annotations ?? {}).filter((key) => key.startsWith("bindings."))).toEqual([]);
});

test("a selector binds workloads that come later, and releases those that leave", async () => {
  await using world = await setUp(2);
  await world.apply(Secret({ name: "login", labels: mayBeProjected, stringData: { username: "me" } }));
  const service = { apiVersion: "v1", kind: "Secret", name: "login" };
  const selected = { apiVersion: "apps/v1", kind: "Deployment", selector: { matchLabels: labels } };
  await world.apply(WorkloadBinding({ name: "orders", spec: { service, workload: selected } }));
  await world.settled();
  expect(conditionOf(await world.get(WorkloadBinding, "orders"), "Ready")).toMatchObject({ reason: "WorkloadMissing" });
  await world.apply(shop());
  await world.settled();
  expect(await mountsOf(world)).toEqual(["/bindings/orders"]);
  await world.patch(Deployment, "shop", { metadata: { labels: { app: "other" } } });
  await world.settled();
  expect(await mountsOf(world)).toEqual([]);
});

test("a CronJob's pods get a binding", async () => {
  await using world = await setUp(3);
  const jobTemplate = { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" as const } } } };
  await world.apply(CronJob({ name: "nightly", spec: { schedule: "0 3 * * *", suspend: true, jobTemplate } }));
  await world.apply(Secret({ name: "login", labels: mayBeProjected, stringData: { username: "me" } }));
  const service = { apiVersion: "v1", kind: "Secret", name: "login" };
  const nightly = { apiVersion: "batch/v1", kind: "CronJob", name: "nightly" };
  await world.apply(WorkloadBinding({ name: "orders", spec: { service, workload: nightly } }));
  await world.settled();
  const { spec } = await world.get(CronJob, "nightly");
  expect(spec.jobTemplate.spec?.template.spec?.volumes?.length).toBe(1);
});

test("our own binding provides a Secret and projects it by itself", async () => {
  await using world = await setUp(4);
  await world.apply(shop());
  await world.apply(Shelf({ name: "books", spec: {} }));
  const instance = { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" };
  await world.apply(ServiceBinding({ name: "reader", spec: { instance, workload } }));
  await world.settled();
  expect(await mountsOf(world)).toEqual(["/bindings/reader"]);
  expect(conditionOf(await world.get(ServiceBinding, "reader"), "Projected")?.status).toBe("True");
  await world.expectQuiet();
  await world.delete(ServiceBinding, "reader");
  await world.settled();
  expect(await mountsOf(world)).toEqual([]);
});

test("servicebinding.io's kind takes our binding as its provisioned service", async () => {
  await using world = await setUp(5);
  await world.apply(shop());
  const service = { apiVersion: "data.setpoint.dev/v1", kind: "ServiceBinding", name: "reader" };
  await world.apply(WorkloadBinding({ name: "books", spec: { service, workload } }));
  await world.run(1_000);
  expect(conditionOf(await world.get(WorkloadBinding, "books"), "Ready")).toMatchObject({
    status: "False",
    reason: "ServiceUnavailable",
  });
  await world.apply(Shelf({ name: "books", spec: {} }));
  const instance = { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" };
  await world.apply(ServiceBinding({ name: "reader", spec: { instance } }));
  await world.settled();
  expect(await mountsOf(world)).toEqual(["/bindings/books"]);
});

test("a workload that refuses the binding does not keep it from the others", async () => {
  await using world = await setUp(6);
  const volumes = [{ name: "own", emptyDir: {} }];
  // The binding would be mounted there.
  const volumeMounts = [{ name: "own", mountPath: "/bindings/orders" }];
  const spec = { volumes, containers: [{ name: "app", image: "shop:1", volumeMounts }] };
  await world.apply(Secret({ name: "login", labels: mayBeProjected, stringData: { username: "me" } }));
  await world.apply(shop("c-third"));
  await world.apply(shop("b-second", { ...template, spec }));
  await world.apply(shop("a-first"));
  const service = { apiVersion: "v1", kind: "Secret", name: "login" };
  const selected = { apiVersion: "apps/v1", kind: "Deployment", selector: { matchLabels: labels } };
  await world.apply(WorkloadBinding({ name: "orders", spec: { service, workload: selected } }));
  await world.settled();
  expect(await mountsOf(world, "a-first")).toEqual(["/bindings/orders"]);
  expect(await mountsOf(world, "c-third")).toEqual(["/bindings/orders"]);
  expect(conditionOf(await world.get(WorkloadBinding, "orders"), "Ready")).toMatchObject({
    status: "False",
    reason: "WorkloadRefused",
    message: expect.stringContaining('Deployment "b-second": ') as string,
  });
});

test("a Secret without the label is not projected, and the binding says what to do", async () => {
  await using world = await setUp(8);
  await world.apply(shop());
  await world.apply(Secret({ name: "payments", stringData: { password: "theirs" } }));
  const service = { apiVersion: "v1", kind: "Secret", name: "payments" };
  await world.apply(WorkloadBinding({ name: "mine", spec: { service, workload } }));
  await world.run(60_000);
  expect(await mountsOf(world)).toEqual([]);
  expect(conditionOf(await world.get(WorkloadBinding, "mine"), "Ready")).toMatchObject({
    status: "False",
    reason: "SecretNotLabelled",
    message:
      'Secret "payments" is not projected into workloads, because it has no label data.setpoint.dev/workload-binding=true; to allow it, run: kubectl label secret payments --namespace=default data.setpoint.dev/workload-binding=true',
  });
  await world.patch(Secret, "payments", { metadata: { labels: mayBeProjected } });
  await world.run(60_000);
  expect(await mountsOf(world)).toEqual(["/bindings/mine"]);
});

test("a service provides no Secret that belongs to another one", async () => {
  // No operator of a database corrects the status.
  await using world = await simulate({ seed: 7, operators: [serviceBindingOperator] });
  await world.apply(shop());
  await world.apply(Secret({ name: "payments", stringData: { password: "theirs" } }));
  const instance = { apiGroup: Shelf.group, kind: Shelf.kind, name: "books" };
  await world.apply(ServiceBinding({ name: "reader", spec: { instance } }));
  const patch = { status: { binding: { name: "payments" } } };
  const key = { name: "reader", namespace: "default" };
  await world.wait(world.client.patch(ServiceBinding, key, patch, { subresource: "status" }));
  const service = { apiVersion: ServiceBinding.apiVersion, kind: ServiceBinding.kind, name: "reader" };
  await world.apply(WorkloadBinding({ name: "mine", spec: { service, workload } }));
  await world.run(60_000);
  expect(await mountsOf(world)).toEqual([]);
  expect(conditionOf(await world.get(WorkloadBinding, "mine"), "Ready")?.reason).toBe("SecretNotLabelled");
});
