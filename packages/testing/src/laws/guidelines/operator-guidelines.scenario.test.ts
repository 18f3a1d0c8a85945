/** The guidelines, held against small operators each of which ignores one of them. */
import { ConfigMap, Deployment, Pod } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import { controller, defineKind, defineOperator, type Operator, requeueAfter } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import type { Subject } from "../../explore/story.ts";
import { story } from "../../explore/story.ts";
import type { World } from "../../world.ts";
import type { GuidelineOptions } from "./guideline.ts";
import { guidelineProblem, type GuidelineName, operatorGuidelines } from "./operator-guidelines.ts";

const image = z.string().default("shop:1");
const Shop = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Shop",
  spec: z.object({ image, replicas: z.int().default(2) }),
  status: z.object({ beat: z.string().optional() }),
});
type Shop = ReturnType<typeof Shop>;

const shop = Shop({ name: "shop", spec: {} });

function deployment({ metadata: { name = "" }, spec }: Shop, wanted = spec.image): Deployment {
  const labels = { shop: name };
  const containers = [{ name: "web", image: wanted }];
  return Deployment({
    name,
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  });
}

const shops = controller(Shop, {
  owns: { deployments: Deployment },
  desired: (each) => ({ children: [deployment(each)] }),
});
const good = defineOperator({ name: "shops", controllers: [shops] });

async function images(world: World): Promise<readonly string[]> {
  const live = (await world.list(Pod)).filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  return live.map(({ spec }) => spec?.containers[0]?.image ?? "");
}

const isServing = async (world: World): Promise<boolean> => (await images(world)).length === 2;

/** As the first release stored it; its Deployment had the same name. */
const older: GuidelineOptions["older"] = {
  async place(world) {
    const { metadata } = await world.apply(shop);
    const owner = { apiVersion: shop.apiVersion, kind: "Shop", name: "shop", uid: metadata.uid, controller: true };
    const child = deployment(shop);
    await world.apply({ ...child, metadata: { ...child.metadata, namespace: "default", ownerReferences: [owner] } });
    await world.run(10_000);
  },
};

const options: GuidelineOptions = {
  instance: shop,
  primitives: {},
  older,
  away: { isServing },
  version: { field: "spec.image", next: "shop:2", running: images },
  chaos: { worlds: [story("starts", shop)], faults: ["A2", "B2"] },
};

operatorGuidelines(test, "the good shop", good, options);

function problem(
  name: GuidelineName,
  subject: Subject,
  more: Partial<GuidelineOptions> = {},
): Promise<string | undefined> {
  return guidelineProblem(name, subject, { ...options, ...more });
}

function operator(...controllers: Operator["controllers"]): Operator {
  return defineOperator({ name: "shops", controllers });
}

test("guideline 1 finds two operators where one is expected", async () => {
  const second = defineOperator({ name: "more", controllers: [] });
  expect(await problem("singleDeployment", () => ({ operators: [good, second] }))).toContain(
    "its manifests start Deployment and Deployment, expected one Deployment",
  );
});

test("guideline 1 finds an operator that needs more rights than its manifests give", async () => {
  const curious = controller(Shop, {
    async reconcile(_, { client, signal }) {
      await client.list(ConfigMap, { namespace: "kube-system", signal });
    },
  });
  expect(await problem("singleDeployment", operator(curious))).toContain("forbidden");
});

test("guideline 2 finds an operator without a type of its own", async () => {
  const labels = controller(ConfigMap, { async reconcile() {} });
  const instance = ConfigMap({ name: "shop", data: { image: "shop:1" } }) as KubeObject;
  expect(await problem("newType", operator(labels), { instance })).toContain(
    "ConfigMap of the core group is not one of the kinds that it brings",
  );
});

test("guideline 2 finds a type that no controller reconciles", async () => {
  const idle = defineOperator({ name: "idle", controllers: [], kinds: [Shop] });
  expect(await problem("newType", idle)).toContain("no controller of it reconciles Shop");
});

test("guideline 3 finds pods that a Deployment could run, and accepts a reason", async () => {
  const pod = controller(Shop, {
    owns: { pods: Pod },
    desired: ({ metadata, spec }) => ({
      children: [Pod({ name: `${metadata.name}-0`, spec: { containers: [{ name: "web", image: spec.image }] } })],
    }),
  });
  expect(await problem("primitives", operator(pod))).toContain('it creates Pod "shop-0" itself; use a Deployment');
  const ownPods = "each pod is a member with a name of its own";
  expect(await problem("primitives", operator(pod), { primitives: { ownPods } })).toBeUndefined();
  expect(await problem("primitives", good, { primitives: { ownPods } })).toContain("it creates no pods");
});

test("guideline 3 finds a second kind of what Kubernetes has", async () => {
  const kind = { group: "examples.setpoint.dev", version: "v1", spec: z.object({ image }) };
  const Job = defineKind({ ...kind, kind: "Job" });
  expect(await problem("primitives", defineOperator({ name: "jobs", controllers: [shops], kinds: [Job] }))).toContain(
    "it brings a kind Job, which Kubernetes has",
  );
});

test("guideline 4 finds a release that renames what the earlier one has made", async () => {
  const renamed = controller(Shop, {
    owns: [Deployment],
    async reconcile(each, { apply, children, delete: remove }) {
      const child = deployment(each);
      await apply({ ...child, metadata: { ...child.metadata, name: "shop-v2" } });
      for (const old of children.list(Deployment)) if (old.metadata.name === "shop") await remove(old);
    },
  });
  expect(await problem("olderObjects", operator(renamed))).toContain(
    'Deployment "shop" of the earlier release is gone or was replaced',
  );
});

test("guideline 4 finds a conversion to what the schema refuses, also when it is excused", async () => {
  const Strict = defineKind({
    group: "examples.setpoint.dev",
    version: "v2",
    kind: "Shop",
    spec: z.object({ image, replicas: z.int().min(1) }),
    versions: {
      v1: {
        spec: z.object({ image }),
        up: (spec) => ({ ...spec, replicas: 0 }),
        down: (spec) => ({ image: spec.image }),
      },
    },
  });
  const strict = operator(controller(Strict, { async reconcile() {} }));
  expect(await problem("olderObjects", strict)).toContain("as examples.setpoint.dev/v2 it is not valid: spec.replicas");
  expect(await problem("olderObjects", strict, { older: { notApplicable: "it is a new operator" } })).toContain(
    "it is excused, but Shop has 2 versions",
  );
});

test("guideline 5 finds an instance that serves only while its operator speaks to it", async () => {
  const beating = controller(Shop, {
    async reconcile(each, { status, host }) {
      await status({ beat: new Date(host.clock.now()).toISOString() });
      return requeueAfter(20_000, "the next beat");
    },
  });
  const hearsIt = async (world: World): Promise<boolean> => {
    const { status } = await world.get(Shop, "shop");
    return world.host.clock.now() - Date.parse(status?.beat ?? "") < 60_000;
  };
  expect(await problem("operatorAway", operator(beating), { away: { isServing: hearsIt } })).toBe(
    "its instance does not serve 1 minutes after the operator stopped",
  );
});

test("guideline 5 finds pods behind an excuse", async () => {
  expect(await problem("operatorAway", good, { away: { notApplicable: "it runs outside of the cluster" } })).toContain(
    'it is excused, but its instance runs Pod "shop-',
  );
});

test("guideline 6 finds a version that counts only at the start", async () => {
  const deaf = controller(Shop, {
    owns: { deployments: Deployment },
    desired: (each) => ({ children: [deployment(each, "shop:1")] }),
  });
  expect(await problem("versions", operator(deaf))).toBe(
    "spec.image is shop:2, but shop:1 runs; a change must be rolled out",
  );
});

test("guideline 6 finds a field that the schema lacks, a version that is not refused, and an excuse that is none", async () => {
  const version = { field: "spec.version", next: "2", running: images };
  expect(await problem("versions", good, { version })).toBe("the schema of Shop has no field spec.version");
  const unsupported = { field: "spec.image", next: "shop:2", running: images, unsupported: "shop:0" };
  expect(await problem("versions", good, { version: unsupported })).toBe('spec.image "shop:0" was rolled out');
  expect(await problem("versions", good, { version: { notApplicable: "nothing has a version" } })).toBe(
    "it is excused, but Shop has the field spec.image",
  );
});

test("guideline 7 finds what goes wrong under a fault, and an operator to which nothing can happen", async () => {
  const halves = controller(Shop, {
    owns: [ConfigMap],
    async reconcile({ metadata: { name } }, { apply, children }) {
      if (children.list(ConfigMap).length > 0) return;
      for (const half of ["a", "b"]) await apply(ConfigMap({ name: `${name}-${half}` }));
    },
  });
  expect(await problem("chaos", operator(halves))).toContain("same end as without faults");
  const idle = operator(controller(Shop, { async reconcile() {} }));
  expect(await problem("chaos", idle)).toContain("no fault has struck");
});

test("an excuse without a reason is refused", async () => {
  expect(await problem("operatorAway", good, { away: { notApplicable: "no" } })).toBe(
    'it is excused by "no", expected a sentence that says why the guideline does not apply',
  );
});
