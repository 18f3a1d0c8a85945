import { expect, test } from "vitest";
import { bootstrap } from "../assembly/bootstrap.ts";
import { builtinEndpoints } from "../assembly/builtin-endpoints.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";

interface Seen {
  readonly message?: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly status?: { readonly conditions?: readonly object[] };
}

const pods = "/api/v1/namespaces/default/pods";
const namespaces = "/api/v1/namespaces";

async function start() {
  const { host, storage, server } = startServer();
  server.addEndpoints(builtinEndpoints({ host, storage, reader: server.reader }));
  await bootstrap({ storage, host });
  const ask = asking<Seen>(server, { username: "admin", groups: ["system:masters"] });
  /** Every write to a pod, as watches report it. */
  const told: string[] = [];
  storage.watch("/pods", storage.revision, ({ kind, object }) => {
    const { deletionGracePeriodSeconds: grace } = object.metadata;
    told.push(grace === undefined ? kind : `${kind} ${grace}`);
  });
  const createPod = async (spec: object = {}, metadata: object = {}): Promise<void> => {
    const container = { name: "c", image: "i" };
    const { code } = await ask("POST", pods, {
      metadata: { name: "a", ...metadata },
      spec: { containers: [container], ...spec },
    });
    expect(code).toBe(201);
  };
  const evict = (deleteOptions?: object) =>
    ask("POST", `${pods}/a/eviction`, { metadata: { name: "a" }, ...(deleteOptions ? { deleteOptions } : {}) });
  return { ask, told, createPod, evict, clock: host.clock };
}

test("a pod that nobody has to end is seen marked before it is gone", async () => {
  const { ask, told, createPod } = await start();
  await createPod();
  const marked = { deletionGracePeriodSeconds: 0, generation: 2 };
  const dry = await ask("DELETE", `${pods}/a`, undefined, { dryRun: "All" });
  expect([dry.code, dry.body.metadata]).toMatchObject([200, marked]);
  const { code, body } = await ask("DELETE", `${pods}/a`);
  expect([code, body.metadata]).toMatchObject([200, marked]);
  expect(told).toEqual(["put", "put 0", "delete 0"]);
  expect((await ask("GET", `${pods}/a`)).code).toBe(404);
});

test("a grace period gets shorter, never longer, and does not end in the past", async () => {
  const { ask, told, createPod, clock } = await start();
  await createPod({ nodeName: "n" });
  const remove = async (gracePeriodSeconds: number) => {
    const { metadata } = (await ask("DELETE", `${pods}/a`, { gracePeriodSeconds })).body;
    return [metadata["deletionGracePeriodSeconds"], metadata["deletionTimestamp"]];
  };
  const at = (seconds: number) => `${new Date(clock.now() + seconds * 1000).toISOString().slice(0, 19)}Z`;
  const before = at(30);
  expect(await remove(30)).toEqual([30, before]);
  expect(await remove(40)).toEqual([30, before]);
  await clock.run(20_000);
  expect(await remove(5)).toEqual([1, at(0)]);
  expect(await remove(-1)).toEqual([1, at(0)]);
  expect(told).toEqual(["put", "put 30", "put 1"]);
  expect(await remove(0)).toEqual([0, at(0)]);
  expect(told.slice(3)).toEqual(["put 0", "delete 0"]);
});

test("a pod that only waits for its finalizers is left as it is, whatever time it is given", async () => {
  const { ask, told, createPod } = await start();
  await createPod({}, { finalizers: ["example.com/hold"] });
  for (const gracePeriodSeconds of [0, 30, 0, -1]) await ask("DELETE", `${pods}/a`, { gracePeriodSeconds });
  expect(told).toEqual(["put", "put 0"]);
});

test("a terminating namespace is left as it is, however its deletion is asked for", async () => {
  const { ask } = await start();
  await ask("POST", namespaces, { metadata: { name: "n", finalizers: ["example.com/hold"] } });
  const first = (await ask("DELETE", `${namespaces}/n`)).body;
  expect(first.metadata).toHaveProperty("deletionTimestamp");
  expect(first.metadata).not.toHaveProperty("deletionGracePeriodSeconds");
  for (const options of [{}, { propagationPolicy: "Foreground" }, { propagationPolicy: "Orphan" }])
    expect((await ask("DELETE", `${namespaces}/n`, options)).body).toEqual(first);
});

test("finalizing a namespace is a write like others: what it changes is its, and the same again changes nothing", async () => {
  const { ask } = await start();
  await ask("POST", namespaces, { metadata: { name: "n" } });
  const made = (await ask("GET", `${namespaces}/n`)).body;
  expect((await ask("PUT", `${namespaces}/n/finalize`, made)).body).toEqual(made);
  const spec = { finalizers: ["kubernetes", "example.com/hold"] };
  const { body } = await ask("PUT", `${namespaces}/n/finalize`, { ...made, spec });
  expect(body).toMatchObject({ spec, metadata: { managedFields: [{}, { subresource: "finalize" }] } });
  expect((await ask("PUT", `${namespaces}/n/finalize`, made)).code).toBe(409);
});

test("the phase of a namespace says no more than the mark of its deletion", async () => {
  const { ask } = await start();
  await ask("POST", namespaces, { metadata: { name: "n" } });
  const write = (phase: string) => ask("PATCH", `${namespaces}/n/status`, { status: { phase } });
  expect((await write("Terminating")).code).toBe(422);
  await ask("DELETE", `${namespaces}/n`);
  const { code, body } = await write("Active");
  expect([code, body.message]).toEqual([
    422,
    'Namespace "n" is invalid: status.Phase: Invalid value: "Active": may only be \'Terminating\' if `deletionTimestamp` is not empty',
  ]);
});

test("no finalizers are left out, when a deletion takes the last one", async () => {
  const { ask, createPod } = await start();
  await createPod({ nodeName: "n" });
  await ask("DELETE", `${pods}/a`, { propagationPolicy: "Foreground", gracePeriodSeconds: 30 });
  const { body } = await ask("DELETE", `${pods}/a`, { propagationPolicy: "Background", gracePeriodSeconds: 10 });
  expect(body.metadata).not.toHaveProperty("finalizers");
});

test("an evicted pod says why it goes, and another eviction changes nothing", async () => {
  const { ask, told, createPod, evict } = await start();
  await createPod({ nodeName: "n" });
  expect((await evict()).code).toBe(201);
  const conditions = [{ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }];
  expect((await ask("GET", `${pods}/a`)).body.status).toMatchObject({ conditions });
  expect((await evict()).code).toBe(201);
  expect(told).toEqual(["put", "put", "put 30"]);
  await evict({ gracePeriodSeconds: 0 });
  expect(told.slice(3)).toEqual(["put 0", "delete 0"]);
});

test("an eviction keeps to its options, and changes nothing when it only asks", async () => {
  const { ask, told, createPod, evict } = await start();
  await createPod({ nodeName: "n" });
  expect((await evict({ dryRun: ["All"] })).code).toBe(201);
  expect((await evict({ preconditions: { resourceVersion: "1" } })).code).toBe(409);
  expect(told).toEqual(["put"]);
  await evict({ propagationPolicy: "Foreground" });
  expect((await ask("GET", `${pods}/a`)).body.metadata).toMatchObject({ finalizers: ["foregroundDeletion"] });
});

test("an eviction of another pod than that of its URL is refused", async () => {
  const { ask, createPod } = await start();
  await createPod();
  const { code, body } = await ask("POST", `${pods}/a/eviction`, { metadata: { name: "b" } });
  expect([code, body.message]).toEqual([400, "name in URL does not match name in Eviction object"]);
});
