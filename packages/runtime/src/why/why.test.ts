import { controller, requeueAfter, startManager, type Manager, type WhyReport } from "@setpoint/runtime";
import type { Transport } from "@setpoint/apimachinery";
import { RecordingTracer } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { Candy, Fleet, Wrapper, isWrite } from "../manager/fleet.fixture.ts";

const lolly = { name: "lolly", namespace: "default" };
const candy = (name: string, ...flavors: string[]): Candy => Candy({ name, namespace: "default", spec: { flavors } });

const wrap = controller(Candy, {
  owns: { wrappers: Wrapper },
  desired: (object, { wrappers }) => ({
    children: object.spec.flavors.map((flavor) =>
      Wrapper({ name: `${object.metadata.name}-${flavor}`, data: { flavor } }),
    ),
    status: { wrappers: wrappers.length },
  }),
});

function start(fleet: Fleet, controllers = [wrap]): Manager {
  const { transport, host } = fleet.process("operator");
  return startManager({ transport, host, controllers });
}

async function why(fleet: Fleet, manager: Manager, kind: string, name: string): Promise<WhyReport> {
  const report = await fleet.wait(manager.why({ kind, name, namespace: "default" }));
  if (report === undefined) throw new Error(`nothing is known of ${kind} ${name}`);
  return report;
}

test("why says which change of which writer led to the last run, what it wrote, and what is waited for", async () => {
  await using fleet = new Fleet(1);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const manager = start(fleet);
  await fleet.run(1_000);
  const change = { spec: { flavors: ["mint"] } };
  await fleet.wait(fleet.client.patch(Candy, lolly, change, { fieldManager: "kubectl-edit" }));
  await fleet.run(5_000);

  const report = await why(fleet, manager, "candies", "lolly");
  expect(report).toMatchObject({
    controller: "candy",
    object: { kind: "Candy", ...lolly },
    isPresent: true,
    state: "idle",
  });
  // The newest run: woken by the wrapper that the one before has made.
  const [last, before] = report.runs;
  expect(last).toMatchObject({
    causes: [
      {
        ...{ change: "added", kind: "ConfigMap", name: "lolly-mint" },
        ownRun: { controller: "candy", object: "default/lolly", reconcileID: before?.reconcileID },
      },
    ],
  });
  expect(before?.causes).toMatchObject([{ change: "changed", kind: "Candy", writer: "kubectl-edit" }]);
  expect(before?.writes.map(({ method, path, outcome }) => `${method} ${path.split("/").at(-1)} ${outcome}`)).toContain(
    "PATCH lolly-mint done",
  );
  await fleet.wait(manager.stop());
});

test("why asks the server for the writer of a change", async () => {
  await using fleet = new Fleet(2);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const looks = controller(Candy, { reconcile: () => Promise.resolve(requeueAfter(60_000, "the sugar is still hot")) });
  const manager = start(fleet, [looks]);
  await fleet.run(1_000);
  await fleet.wait(fleet.client.patch(Candy, lolly, { spec: { flavors: ["lime"] } }, { fieldManager: "kubectl-edit" }));
  await fleet.run(1_000);
  const report = await why(fleet, manager, "Candy", "lolly");
  expect(report.runs[0]).toMatchObject({
    causes: [{ change: "changed", kind: "Candy", writer: "kubectl-edit" }],
    result: "requeue_after",
    reason: "the sugar is still hot",
    nextTryAt: "2026-01-01T00:01:01.000Z",
  });
  expect(report).toMatchObject({ state: "delayed", until: "2026-01-01T00:01:01.000Z" });
  // What was there at the start has no cause but the start.
  expect(report.runs[1]?.causes).toEqual([]);
});

test.each([
  ["refuses connections", () => Promise.reject(new Error("connect ECONNREFUSED"))],
  ["answers nothing", () => new Promise<never>(() => {})],
])("why tells what is known here also when the server %s", async (_how, answer) => {
  await using fleet = new Fleet(7);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const { transport, host } = fleet.process("operator");
  let isIll = false;
  const ill: Transport = { send: (request, signal) => (isIll ? answer() : transport.send(request, signal)) };
  const manager = startManager({ transport: ill, host, controllers: [wrap] });
  await fleet.run(1_000);
  await fleet.wait(fleet.client.patch(Candy, lolly, { spec: { flavors: ["mint"] } }));
  await fleet.run(5_000);
  isIll = true;
  const report = await why(fleet, manager, "Candy", "lolly");
  expect(report.runs[1]).toMatchObject({ result: "success", causes: [{ change: "changed", name: "lolly" }] });
  isIll = false;
});

test("a key whose last write no cache shows yet is reported as waiting for it, not as running", async () => {
  await using fleet = new Fleet(8);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const operator = fleet.process("operator");
  const mute = controller(Candy, {
    owns: [Wrapper],
    async reconcile({ spec, metadata }, { children }) {
      if (spec.flavors.length > 0) operator.muteWatches();
      await children.apply(spec.flavors.map((flavor) => Wrapper({ name: `${metadata.name}-${flavor}`, data: {} })));
    },
  });
  const manager = startManager({ transport: operator.transport, host: operator.host, controllers: [mute] });
  await fleet.run(1_000);
  await fleet.wait(fleet.client.patch(Candy, lolly, { spec: { flavors: ["mint"] } }));
  await fleet.run(5_000);
  const report = await why(fleet, manager, "Candy", "lolly");
  expect(report.state).toBe("settling");
  expect(report.runs[0]).toMatchObject({ result: "success", writes: [{ outcome: "done" }] });
  await fleet.run(30_000);
  expect((await why(fleet, manager, "Candy", "lolly")).state).toBe("idle");
});

test("of a key for which shardBy throws, why tells with what", async () => {
  await using fleet = new Fleet(9);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const { transport, host } = fleet.process("operator");
  const shardBy = (): string => {
    throw new Error("it has no region");
  };
  const sharding = { name: "sweets", namespace: "default", shardBy };
  const manager = startManager({ transport, host, controllers: [wrap], sharding });
  await fleet.run(10_000);
  const report = await why(fleet, manager, "Candy", "lolly");
  expect(report).toMatchObject({ state: "delayed", held: "Nobody can say whose it is: it has no region" });
  await fleet.wait(manager.stop());
});

test("of a kind that several controllers reconcile, each can be asked, and each names the others", async () => {
  await using fleet = new Fleet(10);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const taster = controller(Candy, {
    name: "taster",
    reconcile: () => Promise.reject(new Error("it is too sweet")),
  });
  const manager = start(fleet, [wrap, taster]);
  await fleet.run(1_000);
  expect(await why(fleet, manager, "Candy", "lolly")).toMatchObject({
    controller: "candy",
    otherControllers: ["taster"],
  });
  const asked = { ...lolly, kind: "Candy" };
  const other = await fleet.wait(manager.why({ ...asked, controller: "taster" }));
  expect(other).toMatchObject({ controller: "taster", otherControllers: ["candy"], state: "delayed" });
  expect(other?.runs[0]?.reason).toBe("it is too sweet");
  expect(await fleet.wait(manager.why({ ...asked, controller: "nobody" }))).toBeUndefined();
});

test("a run that fails says with what, how often, and when it is tried again", async () => {
  await using fleet = new Fleet(3);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const fails = controller(Candy, { reconcile: () => Promise.reject(new Error("the oven is cold")) });
  const manager = start(fleet, [fails]);
  await fleet.run(60_000);
  const report = await why(fleet, manager, "candy", "lolly");
  expect(report.failures).toBeGreaterThan(5);
  expect(report).toMatchObject({ state: "delayed", until: expect.any(String) });
  expect(report.runs[0]).toMatchObject({ result: "error", reason: "the oven is cold", nextTryAt: report.until });
});

test("for a controller's child, why reports on its owner; for an unknown object, on nothing", async () => {
  await using fleet = new Fleet(4);
  await fleet.wait(fleet.client.create(Candy, candy("lolly", "mint")));
  const manager = start(fleet);
  await fleet.run(5_000);
  expect(await why(fleet, manager, "configmap", "lolly-mint")).toMatchObject({
    object: { kind: "Candy", name: "lolly" },
    askedFor: { kind: "ConfigMap", name: "lolly-mint" },
  });
  expect(await manager.why({ kind: "Cake", name: "lolly" })).toBeUndefined();
});

test("the memory of runs is bounded, and why reports what it has forgotten", async () => {
  await using fleet = new Fleet(5);
  for (let i = 0; i < 1_100; i++) await fleet.wait(fleet.client.create(Candy, candy(`c${i}`)));
  const manager = start(fleet, [
    controller(Candy, { reconcile: (_, { awaitChange }) => Promise.resolve(awaitChange()) }),
  ]);
  await fleet.run(10_000);
  const reports = await Promise.all(
    Array.from({ length: 1_100 }, (_, i) => manager.why({ kind: "candy", name: `c${i}` })),
  );
  const forgotten = reports.filter((report) => report?.runs.length === 0);
  expect(forgotten).toHaveLength(1_100 - 1_024);
  expect(forgotten[0]).toMatchObject({ isPresent: true, state: "idle", rememberedSince: expect.any(String) });
});

test("spans go from the event to each write, and requests carry the trace", async () => {
  await using fleet = new Fleet(6);
  await fleet.wait(fleet.client.create(Candy, candy("lolly")));
  const tracer = new RecordingTracer();
  const { transport, host } = fleet.process("operator");
  const manager = startManager({ transport, host: { ...host, tracer }, controllers: [wrap] });
  await fleet.run(1_000);
  const headers: (string | undefined)[] = [];
  fleet.onArrival = ({ request }) => void (isWrite(request) && headers.push(request.headers?.["traceparent"]));
  await fleet.wait(fleet.client.patch(Candy, lolly, { spec: { flavors: ["mint"] } }));
  await fleet.run(5_000);

  const write = tracer.spans.find(({ name }) => name === "PATCH configmaps");
  const run = tracer.spans.find(({ id }) => id === write?.parentId);
  expect(run).toMatchObject({
    name: "reconcile candy",
    attributes: {
      ...{ controller: "candy", "k8s.object": "default/lolly", "setpoint.cause": "Candy default/lolly changed" },
      ...{ "setpoint.result": "success", reconcileID: expect.any(String) },
    },
  });
  expect(write).toMatchObject({ attributes: { "http.response.status_code": 201 }, isEnded: true });
  expect(tracer.spans.every(({ isEnded }) => isEnded)).toBe(true);
  expect(headers).toContain(
    `00-${(run?.id ?? 0).toString(16).padStart(32, "0")}-${(write?.id ?? 0).toString(16).padStart(16, "0")}-01`,
  );
  await fleet.wait(manager.stop());
});
