/** 25 6: `setpoint plan FILE -f OBJECTS` says the steps of a change before anything is applied. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { awaitChange, controller, defineKind, defineOperator, type Operator } from "setpoint";
import { ConfigMap } from "setpoint/kinds";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ownFolder } from "../own-folder.fixture.ts";
import { ownPlane } from "../own-plane.fixture.ts";
import { readObjects } from "./given-objects.ts";
import { changedObjects, planText } from "./plan-text.ts";
import { runPlan, type Plan } from "./run-plan.ts";

const { host, plane, client } = await ownPlane({ controllers: false });
const folder = ownFolder("given");

const Store = defineKind({
  group: "given.setpoint.dev",
  version: "v1",
  kind: "Store",
  spec: z.object({
    size: z.int().default(1),
    version: z.string().regex(/^[0-9.]+$/),
    dryRun: z.boolean().default(false),
  }),
  status: z.object({
    observedGeneration: z.int().optional(),
    version: z.string(),
    plannedSteps: z
      .array(
        z.object({
          action: z.string(),
          member: z.string().optional(),
          reason: z.string(),
          interruption: z.string(),
          noReturn: z.string().optional(),
        }),
      )
      .optional(),
  }),
});

/** Restarts the one member for another version. */
function storeOperator(): Operator {
  const stores = controller(Store, {
    owns: [ConfigMap],
    async reconcile({ metadata: { name, generation }, spec, status }, { apply, status: write }) {
      const version = status?.version ?? spec.version;
      const restart = {
        ...{ action: "RestartMember", member: `${name}-0`, reason: `version ${version} becomes ${spec.version}` },
        ...{ interruption: "reads and writes fail for 5 s", noReturn: "a store cannot be downgraded" },
      };
      if (spec.dryRun) {
        const plannedSteps = version === spec.version ? [] : [restart];
        await write({ observedGeneration: generation, version, plannedSteps });
        return awaitChange();
      }
      await apply(ConfigMap({ name: `${name}-0`, data: { version: spec.version } }));
      const first = { action: "CreateMember", member: `${name}-0`, reason: "there is none", interruption: "none" };
      const plannedSteps = name === "listed" ? [first] : undefined;
      await write({ observedGeneration: generation, version: spec.version, plannedSteps });
      return awaitChange();
    },
  });
  return defineOperator({ name: "stores", controllers: [stores] });
}

const operator = storeOperator();
const manifest = (name: string, spec: object): string =>
  JSON.stringify({ apiVersion: "given.setpoint.dev/v1", kind: "Store", metadata: { name }, spec });

async function planOf(text: string): Promise<Plan> {
  const file = join(folder, "store.yaml");
  writeFileSync(file, text);
  const given = readObjects([file]);
  return runPlan({ operator, transport: plane.transport, host, limitMs: 15_000, quietMs: 200, given });
}

const textOf = (plan: Plan): string =>
  planText(plan, { operator: "stores", server: "here", colors: false }).replaceAll(`${folder}/`, "");

beforeAll(async () => {
  for (const crd of operator.crds())
    await client.request({
      method: "PATCH",
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`,
      query: { fieldManager: "stores", force: "true" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: crd,
    });
  const key = { name: "orders", namespace: "default" };
  await client.create(Store, Store({ ...key, spec: { version: "1.0" } }));
  const { metadata } = await client.get(Store, key);
  const status = { observedGeneration: metadata.generation ?? 1, version: "1.0" };
  await client.patch(Store, key, { status }, { subresource: "status" });
  await client.create(ConfigMap, ConfigMap({ name: "orders-0", namespace: "default", data: { version: "1.0" } }));
});

test("a changed object shows the change and the steps of its operator, and nothing is written", async () => {
  const before = (await client.get(Store, { name: "orders", namespace: "default" })).metadata.resourceVersion;
  const plan = await planOf(manifest("orders", { version: "2.0" }));
  expect(textOf(plan)).toContain(
    `~ Store default/orders
    from store.yaml
  - spec.version: 1.0
  + spec.version: 2.0
  Steps, in this order:
    1. RestartMember orders-0: version 1.0 becomes 2.0
       interruption: reads and writes fail for 5 s
       point of no return: a store cannot be downgraded
`,
  );
  expect(textOf(plan)).not.toContain("dryRun");
  expect(plan.errors).toEqual([]);
  const after = (await client.get(Store, { name: "orders", namespace: "default" })).metadata.resourceVersion;
  expect(after).toBe(before);
});

test("a change that needs no step says so, and an object as it is shows nothing of itself", async () => {
  expect(textOf(await planOf(manifest("orders", { version: "1.0", size: 3 })))).toContain(
    "  + spec.size: 3\n  No steps: its operator restarts and replaces nothing for it.\n",
  );
  expect(changedObjects(await planOf(manifest("orders", { version: "1.0" })))).not.toContainEqual(
    expect.objectContaining({ title: "Store default/orders" }),
  );
});

test("a new object shows what its operator creates", async () => {
  const text = textOf(await planOf(manifest("fresh", { version: "1.0" })));
  expect(text).toContain("+ Store default/fresh\n    from store.yaml\n");
  expect(text).toContain("+ ConfigMap default/fresh-0\n    patch by store of default/fresh\n");
});

test("a new object shows the steps that its operator reports without a dry run", async () => {
  const text = textOf(await planOf(manifest("listed", { version: "1.0" })));
  expect(text).toContain(
    "  + spec.version: 1.0\n  + spec.size: 1\n  + spec.dryRun: false\n  Steps, in this order:\n    1. CreateMember listed-0: there is none\n",
  );
  expect(text).not.toContain("status.");
});

test("an object that the server would refuse is reported with its file", async () => {
  const text = textOf(await planOf(manifest("orders", { version: "two" })));
  expect(text).toMatch(/! patch of stores default\/orders by store\.yaml would be refused: .*spec\.version/);
});

test("objects of other kinds are part of the plan, and a file without a kind is refused by its place", async () => {
  const map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: mine}\ndata: {a: b}\n";
  expect(textOf(await planOf(map))).toContain("+ ConfigMap default/mine\n    from store.yaml\n  + data.a: b\n");
  await expect(planOf(`${map}---\nmetadata: {name: x}\n`)).rejects.toThrow(
    /^Cannot plan ".*store\.yaml": document 2 needs apiVersion, kind and metadata\.name$/,
  );
  expect(() => readObjects([join(folder, "none.yaml")])).toThrow(/^Cannot plan ".*none\.yaml": ENOENT/);
});

test("an operator that does not answer is no plan without steps", async () => {
  const deaf = controller(Store, { async reconcile() {} });
  const file = join(folder, "deaf.yaml");
  writeFileSync(file, manifest("orders", { version: "2.0" }));
  const plan = await runPlan({
    ...{ operator: defineOperator({ name: "deaf", controllers: [deaf] }), transport: plane.transport, host },
    ...{ limitMs: 15_000, quietMs: 200, given: readObjects([file]) },
  });
  expect(textOf(plan)).toContain("  The steps are not known: the operator has not reconciled the change");
});
