/** When a plan has seen everything: operators that look again and again, and that cannot see. */
import { ConfigMap } from "@setpoint/api";
import { failure, type UnstructuredObject } from "@setpoint/apimachinery";
import type { PretendedWrite } from "@setpoint/client";
import { sleep } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { awaitChange, controller, defineKind, defineOperator, requeueAfter, type Operator } from "setpoint";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { ownPlane } from "../own-plane.fixture.ts";
import { PlanRest } from "./plan-rest.ts";
import { changedObjects, planText } from "./plan-text.ts";
import { runPlan, type Plan } from "./run-plan.ts";

const { host, plane, client } = await ownPlane({ controllers: false });

const Probe = defineKind({
  group: "rest.setpoint.dev",
  version: "v1",
  kind: "Probe",
  spec: z.object({}),
  status: z.object({ lastChecked: z.string(), steps: z.int().optional() }),
});
type Probe = ReturnType<typeof Probe>;

const operatorWith = (reconcile: NonNullable<Parameters<typeof controller<Probe>>[1]["reconcile"]>): Operator =>
  defineOperator({ name: "probes", controllers: [controller(Probe, { owns: [ConfigMap], reconcile })] });

const limitMs = 6_000;
const quietMs = 300;
const plan = (operator: Operator): Promise<Plan> =>
  runPlan({ operator, transport: plane.transport, host, limitMs, quietMs });
const textOf = (planned: Plan): string => planText(planned, { operator: "probes", server: "here", colors: false });
const titles = (planned: Plan): readonly string[] => changedObjects(planned).map(({ title }) => title);

const now = (): string => new Date(host.clock.now()).toISOString();

beforeAll(async () => {
  const operator = operatorWith(async () => awaitChange());
  for (const crd of operator.crds())
    await client.request({
      method: "PATCH",
      path: `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`,
      query: { fieldManager: "probes", force: "true" },
      headers: { "content-type": "application/apply-patch+yaml" },
      body: crd,
    });
  const key = { name: "one", namespace: "default" };
  await client.create(Probe, Probe({ ...key, spec: {} }));
  await client.patch(Probe, key, { status: { lastChecked: now() } }, { subresource: "status" });
});

/** A plan in which one key is busy all the time, 300 ms after it began. */
async function busyPlan(): Promise<{ readonly rest: PlanRest; passes(): Promise<void>; runs(): void }> {
  const { clock } = simulatedHost(1);
  const rest = new PlanRest(clock, quietMs);
  const runs = (): void => rest.began("probe", "default/one");
  const passes = async (): Promise<void> => {
    rest.isReached(); // Who waits looks again and again.
    await clock.run(quietMs);
  };
  rest.follow({ isQuiet: () => false, busyKeys: () => [{ controller: "probe", key: "default/one" }] });
  await passes();
  return { rest, passes, runs };
}

/** A pretended change of the status. */
function statusWrite(before: object, after: object, refused?: PretendedWrite["refused"]): PretendedWrite {
  const place = { group: "rest.setpoint.dev", resource: "probes", namespace: "default", name: "one" };
  const identity = { apiVersion: "rest.setpoint.dev/v1", kind: "Probe", metadata: { name: "one" } };
  const object = (status: object): UnstructuredObject => ({ ...identity, status });
  const write = { verb: "patch", place, subresource: "status", request: { method: "PATCH", path: "/" } } as const;
  return { ...write, before: object(before), after: object(after), refused, isServerChecked: true } as PretendedWrite;
}

test("a busy key is at rest when it runs again after a whole run that changed nothing", async () => {
  const { rest, passes, runs } = await busyPlan();
  runs();
  expect(rest.isReached()).toBe(false);
  runs();
  expect(rest.isReached()).toBe(true);
  rest.wrote(statusWrite({ ready: 1 }, { ready: 2 }));
  await passes();
  runs();
  expect(rest.isReached()).toBe(false);
  runs();
  expect(rest.isReached()).toBe(true);
});

test("times of a status, events and a refusal that was there before are no change", async () => {
  const { rest, passes, runs } = await busyPlan();
  const refused = statusWrite({}, {}, failure(422, "Invalid", "spec.size is too large"));
  rest.wrote(refused);
  await passes();
  runs();
  runs();
  const event = statusWrite({ count: 1 }, { count: 2 });
  for (const write of [
    statusWrite({ lastChecked: "2026-01-01T00:00:00Z" }, { lastChecked: "2026-01-01T00:00:05.5Z" }),
    refused,
    { ...event, place: { ...event.place, group: "", resource: "events" } },
  ]) {
    rest.wrote(write);
    expect(rest.isReached()).toBe(true);
  }
  rest.wrote(statusWrite({ size: 1 }, { size: 2 }));
  expect(rest.isReached()).toBe(false);
});

test("an operator that checks again and again and writes when it did is at rest, and changes nothing", async () => {
  let runs = 0;
  const planned = await plan(
    operatorWith(async (_, { status }) => {
      runs++;
      await sleep(host.clock, 50);
      await status({ lastChecked: now() });
      return requeueAfter(0, "the member does not answer");
    }),
  );
  expect(planned.isComplete).toBe(true);
  expect(runs).toBeGreaterThan(2);
  expect(titles(planned)).toEqual([]);
  expect(textOf(planned)).toContain("No changes.\n");
});

test("an operator whose runs take longer than the plan waits is planned to its end", async () => {
  const planned = await plan(
    operatorWith(async (probe, { status, children, apply }) => {
      const steps = children.list(ConfigMap).length;
      await sleep(host.clock, 2 * quietMs);
      if (steps < 3) await apply(ConfigMap({ name: `step-${steps}`, namespace: "default" }));
      await status({ lastChecked: probe.status?.lastChecked ?? now(), steps });
      return requeueAfter(0, "the next step");
    }),
  );
  expect(planned.isComplete).toBe(true);
  expect(titles(planned)).toEqual([
    "ConfigMap default/step-0",
    "Probe default/one",
    "ConfigMap default/step-1",
    "ConfigMap default/step-2",
  ]);
});

test("an operator that writes something new in each run is not at rest", async () => {
  const planned = await runPlan({
    ...{ transport: plane.transport, host, limitMs: 1_500, quietMs },
    operator: operatorWith(async (probe, { status }) => {
      await status({ lastChecked: now(), steps: (probe.status?.steps ?? 0) + 1 });
      return requeueAfter(10, "the next step");
    }),
  });
  expect(planned.isComplete).toBe(false);
  expect(textOf(planned)).toContain("The operator was still at work when the time was over");
});

test("what cannot be reached ends a run, unless the run has something instead, and the plan says so", async () => {
  const asking = (instead?: string): Operator =>
    operatorWith(async (probe, { apply, controller: self }) => {
      const isDryRun = self.cannotReach("its pods", instead);
      await apply(ConfigMap({ name: `asked-${isDryRun}`, namespace: "default" }));
      return awaitChange();
    });
  const blind = await plan(asking());
  expect(titles(blind)).toEqual([]);
  expect(textOf(blind)).toContain(
    "? probe of default/one could not reach its pods from here: what it would do next is not known\n",
  );
  expect(textOf(blind)).toContain("No changes. There may be more behind what could not be reached.\n");
  const knowing = await plan(asking("the members in its status"));
  expect(titles(knowing)).toEqual(["ConfigMap default/asked-true"]);
  expect(textOf(knowing)).toContain(
    "? probe of default/one could not reach its pods from here: it uses the members in its status instead\n",
  );
});
