import { ClusterRole, ClusterRoleBinding, ConfigMap, Deployment } from "@setpoint/api";
import type { ApiRequest, Transport } from "@setpoint/apimachinery";
import { sleep } from "@setpoint/host";
import { act, controller, defineKind, defineOperator, rest, type Operator, type Step } from "setpoint";
import { runOperator } from "setpoint/process";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ownPlane } from "../own-plane.fixture.ts";
import { changedObjects, planText } from "./plan-text.ts";
import { runPlan, type Plan } from "./run-plan.ts";

const { host, plane, client } = await ownPlane({ controllers: false });

/** Everything that changed something on the server. */
const writes: ApiRequest[] = [];
const watched: Transport = {
  async send(request, signal) {
    const response = await plane.transport.send(request, signal);
    if (request.method !== "GET" && request.query?.["dryRun"] === undefined) writes.push(request);
    return response;
  },
};

const Site = defineKind({
  group: "plan.setpoint.dev",
  version: "v1",
  kind: "Site",
  spec: z.object({ replicas: z.int().default(1), text: z.string() }),
  status: z.object({ files: z.int() }),
});

function siteOperator(label = "v1", text = (wanted: string): string => wanted): Operator {
  const sites = controller(Site, {
    owns: [ConfigMap, Deployment],
    async reconcile(site, context) {
      const { name } = site.metadata;
      await context.apply(
        ConfigMap({ name: `${name}-page`, labels: { version: label }, data: { text: text(site.spec.text) } }),
      );
      const template = {
        metadata: { labels: { site: name } },
        spec: { containers: [{ name: "web", image: `web:${label}` }] },
      };
      const selector = { matchLabels: { site: name } };
      context.event("Normal", "Rolled", `version ${label} is wanted`);
      await context.apply(Deployment({ name, spec: { replicas: site.spec.replicas, selector, template } }));
      // Its own pretended writes are what the next reads show.
      await context.status({ files: context.children.list(ConfigMap).length });
    },
    async cleanup() {},
  });
  return defineOperator({ name: "sites", controllers: [sites] });
}

const plan = (operator: Operator): Promise<Plan> =>
  runPlan({ operator, transport: watched, host, limitMs: 15_000, quietMs: 200 });

async function installed(operator: Operator): Promise<void> {
  for (const crd of operator.crds())
    await client.request({
      method: "PATCH",
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`,
      query: { fieldManager: "sites", force: "true" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: crd,
    });
}

/** Runs it for real until it rests. */
async function run(operator: Operator): Promise<void> {
  await using manager = runOperator(operator, { transport: watched, host });
  await manager.ready;
  let quiet = 0;
  while (quiet < 10) {
    await sleep(host.clock, 20);
    quiet = manager.isQuiet() ? quiet + 1 : 0;
  }
}

const textOf = (plan: Plan): string => planText(plan, { operator: "sites", server: "here", colors: false });
const titles = (plan: Plan): readonly string[] => changedObjects(plan).map(({ change, title }) => `${change} ${title}`);

/** What a write asks for, without what differs from run to run. */
const essence = ({ method, path, body, query }: ApiRequest): string =>
  JSON.stringify([method, path, query?.["fieldManager"], query?.["dryRun"], body]).replaceAll(
    /"(uid|resourceVersion|lastTransitionTime)":"[^"]*"/g,
    '"$1":"…"',
  );

beforeAll(async () => {
  await installed(siteOperator());
  await client.create(Site, Site({ name: "blog", namespace: "default", spec: { replicas: 2, text: "hello" } }));
});

test("a plan writes nothing, and says what would be written and why", async () => {
  const revision = async (): Promise<string> => (await client.listAll(ConfigMap)).resourceVersion;
  const before = await revision();
  writes.length = 0;
  const planned = await plan(siteOperator());
  expect(writes).toEqual([]);
  expect(await revision()).toBe(before);
  expect(planned.isComplete).toBe(true);
  expect(titles(planned)).toEqual([
    "change Site default/blog",
    "create ConfigMap default/blog-page",
    "create Deployment default/blog",
  ]);
  const text = textOf(planned);
  expect(text).toContain("+ Deployment default/blog\n    patch by site of default/blog: version v1 is wanted\n");
  expect(text).toContain("  + spec.template.spec.containers[web].image: web:v1\n");
  expect(text).toContain("  + status.files: 1\n");
  expect(text).toMatch(/\n2 to create, 1 to change, 0 to delete, \d events?\.\n$/);
});

test("the planned writes are those that are made when it runs", async () => {
  writes.length = 0;
  const planned = await plan(siteOperator());
  await run(siteOperator());
  const isOfTheObjects = (request: ApiRequest): boolean => !request.path.includes("events");
  const made = writes.filter(isOfTheObjects).map(essence);
  const pretended = planned.writes
    .map(({ request }) => request)
    .filter(isOfTheObjects)
    .map(essence);
  expect(pretended.filter((each) => !each.includes("customresourcedefinitions"))).toEqual(made);
  expect(made.length).toBeGreaterThan(3);
  expect(titles(await plan(siteOperator()))).toEqual([]);
});

test("a new version of an operator shows what it would change of what the old one has made", async () => {
  const planned = await plan(siteOperator("v2"));
  const fields = changedObjects(planned).map(({ title, fields }) => [title, fields.map(({ path }) => path)]);
  expect(fields).toEqual([
    ["ConfigMap default/blog-page", ["metadata.labels.version"]],
    ["Deployment default/blog", expect.arrayContaining(["spec.template.spec.containers[web].image"])],
  ]);
});

test("a write that the server would refuse is part of the plan", async () => {
  const refusing = siteOperator("no good label!");
  const planned = await plan(refusing);
  expect(textOf(planned)).toMatch(
    /! patch of configmaps default\/blog-page by site of default\/blog would be refused: .*no good label!/,
  );
});

test("an operator that never rests is reported as incomplete", async () => {
  let turn = 0;
  const restless = siteOperator("v1", () => `turn ${turn++}`);
  const planned = await runPlan({ operator: restless, transport: watched, host, limitMs: 400, quietMs: 390 });
  expect(turn).toBeGreaterThan(3);
  expect(planned.isComplete).toBe(false);
  expect(textOf(planned)).toContain("there may be more");
});

test("an account that may only read gets a plan too, which says that nobody has checked it", async () => {
  const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" };
  const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: "reader" }];
  const rules = [{ apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "watch"] }];
  await client.create(ClusterRole, ClusterRole({ name: "reader", rules }));
  await client.create(ClusterRoleBinding, ClusterRoleBinding({ name: "reader", roleRef, subjects }));
  const reader = plane.transportAs({ username: "reader", groups: ["system:authenticated"] });
  const planned = await runPlan({
    operator: siteOperator("v3"),
    transport: reader,
    host,
    limitMs: 15_000,
    quietMs: 200,
  });
  expect(titles(planned)).toEqual(["change ConfigMap default/blog-page", "change Deployment default/blog"]);
  const text = textOf(planned);
  expect(text).toContain(
    "version v3 is wanted (not checked by the server)\n  - spec.template.spec.containers[web].image: web:v1\n",
  );
});

test("an account that may not read what the operator reads gets the rule that it lacks at once", async () => {
  const nobody = plane.transportAs({ username: "nobody", groups: ["system:authenticated"] });
  const planned = runPlan({ operator: siteOperator(), transport: nobody, host, limitMs: 15_000 });
  await expect(planned).rejects.toThrow(
    /^Cannot plan: Cannot list \S+ in all namespaces: the account lacks a rule; grant it the verbs "get", "list" and "watch"/,
  );
}, 5_000);

test("the reason of a planned step stands under what it writes", async () => {
  const steps = controller(Site, {
    owns: [ConfigMap],
    observe: (site, { children }) =>
      Promise.resolve({ name: site.metadata.name, count: children.list(ConfigMap).length }),
    plan: ({ count }): Step<{ addPage: { number: number } }> =>
      count < 2 ? act("addPage", { number: count }, `there are ${count} pages, expected 2`) : rest(),
    actions: {
      async addPage({ number }: { readonly number: number }, { apply }, { name }) {
        await apply(ConfigMap({ name: `${name}-step-${number}`, data: {} }));
      },
    },
  });
  const planned = await plan(defineOperator({ name: "steps", controllers: [steps] }));
  const text = textOf(planned);
  expect(text).toContain(
    "+ ConfigMap default/blog-step-1\n    patch by site of default/blog: there are 1 pages, expected 2\n",
  );
});

test("a kind that the server does not serve yet is planned with it", async () => {
  const Fresh = defineKind({
    group: "fresh.setpoint.dev",
    version: "v1",
    kind: "Fresh",
    spec: z.object({}),
    status: z.object({ files: z.int() }),
  });
  const fresh = controller(Fresh, {
    owns: { maps: ConfigMap },
    desired: () => ({ children: [], status: { files: 0 } }),
  });
  const planned = await plan(defineOperator({ name: "fresh", controllers: [fresh] }));
  expect(titles(planned)).toEqual(["create CustomResourceDefinition freshes.fresh.setpoint.dev"]);
  expect(planned.errors).toEqual([]);
});

test("nothing outside of the API is changed, and the plan says where a run ends", async () => {
  const done: string[] = [];
  const ordering = (reconcile: "effect" | "changesOutside"): Operator => {
    const sites = controller(Site, {
      ledger: true,
      async reconcile(site, { effect, controller: self, apply, log }) {
        log.info("Decided", { reason: "the site has no domain" });
        if (reconcile === "effect")
          await effect("domain", { find: async () => undefined, do: async () => done.push("effect") });
        self.changesOutside(`register domain "${site.metadata.name}"`);
        done.push("after");
        await apply(ConfigMap({ name: "never", data: {} }));
      },
    });
    return defineOperator({ name: "domains", controllers: [sites] });
  };
  const text = textOf(await plan(ordering("changesOutside")));
  expect(text).toContain(
    '> outside of the API by site of default/blog: would register domain "blog", and go on from there: the site has no domain\n',
  );
  expect(text).toContain("more outside of the API");
  expect(textOf(await plan(ordering("effect")))).toContain('would execute effect "domain"');
  expect(done).toEqual([]);
});
