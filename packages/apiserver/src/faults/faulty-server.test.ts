import type { ApiRequest, ApiResponse, UserInfo } from "@setpoint/apimachinery";
import { seededRandom, simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { createApiServer } from "../assembly/api-server.ts";
import { createMemoryStorage } from "../storage/memory-storage.ts";
import { parseFaultPlan } from "./fault-file.ts";
import { type FaultlessServer, FaultyServer } from "./faulty-server.ts";
import { steerable } from "./steer-faults.ts";

const admin: UserInfo = { username: "admin", groups: ["system:masters"] };
const path = "/api/v1/namespaces/default/configmaps";
const quiet = new AbortController().signal;

class Bench {
  readonly host = simulatedHost(1);
  readonly storage = createMemoryStorage(this.host);
  readonly server = createApiServer({ host: this.host, storage: this.storage, builtin: builtinResources() });
  readonly faulty: FaultyServer;
  readonly front: FaultlessServer;

  constructor(...rules: readonly object[]) {
    this.faulty = new FaultyServer({
      server: this.server,
      host: this.host,
      randomOf: seededRandom,
      revision: () => this.storage.revision,
      plan: parseFaultPlan({ rules }),
    });
    this.front = steerable(this.faulty);
  }

  /** What became of it, with time passing until it is known. */
  async send(request: ApiRequest, user = admin): Promise<{ response?: ApiResponse; error?: unknown }> {
    let settled: { response?: ApiResponse; error?: unknown } | undefined;
    this.front.handle(request, user, quiet).then(
      (response) => (settled = { response }),
      (error: unknown) => (settled = { error }),
    );
    await this.host.clock.run(60_000, () => settled !== undefined);
    return settled ?? {};
  }

  create(name: string): ReturnType<Bench["send"]> {
    const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name } };
    return this.send({ method: "POST", path, body });
  }

  async names(query: Record<string, string> = {}): Promise<readonly string[]> {
    const { response } = await this.send({ method: "GET", path, query });
    const { items } = (response?.kind === "object" ? response.object : { items: [] }) as {
      readonly items: readonly { readonly metadata: { readonly name: string } }[];
    };
    return items.map(({ metadata }) => metadata.name);
  }

  /** What a watch tells, as it comes. */
  async watch(query: Record<string, string> = {}): Promise<{ readonly told: string[]; readonly end: () => string }> {
    const { response } = await this.send({ method: "GET", path, query: { watch: "true", ...query } });
    const told: string[] = [];
    let end = "";
    const read = async (): Promise<void> => {
      if (response?.kind !== "watch") return;
      for await (const { object } of response.frames)
        told.push((object as { readonly metadata: { readonly name: string } }).metadata.name);
    };
    read().then(
      () => (end = "ended"),
      (error: { readonly code?: string }) => (end = error.code ?? String(error)),
    );
    return { told, end: () => end };
  }
}

test("every third create is answered with a conflict, and not done", async () => {
  const bench = new Bench({ fault: "conflict", every: 3, match: { verbs: ["create"] } });
  for (const name of ["a", "b", "c", "d"]) await bench.create(name);
  expect(await bench.names()).toEqual(["a", "b", "d"]);
  expect((await bench.create("e")).response?.status).toBe(201);
  expect((await bench.create("f")).error).toMatchObject({ status: { code: 409, reason: "Conflict" } });
});

test("a rule strikes only what it matches, and only so often", async () => {
  const bench = new Bench({
    fault: "serverError",
    status: 503,
    times: 1,
    match: { verbs: ["create"], users: ["sys*"] },
  });
  const body = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
  const system: UserInfo = { username: "system:x", groups: ["system:masters"] };
  expect((await bench.create("b")).response?.status).toBe(201);
  expect((await bench.send({ method: "POST", path, body }, system)).error).toMatchObject({ status: { code: 503 } });
  expect((await bench.send({ method: "POST", path, body }, system)).response?.status).toBe(201);
});

test("a lost answer is lost after the write is done, a refused connection before", async () => {
  const bench = new Bench(
    { fault: "lostAnswer", times: 1, match: { verbs: ["create"] } },
    { fault: "refused", every: 2, times: 1, match: { verbs: ["create"] } },
  );
  expect((await bench.create("lost")).error).toMatchObject({ code: "ERR_ANSWER_WITHHELD" });
  expect((await bench.create("refused")).error).toMatchObject({ code: "ERR_ANSWER_WITHHELD" });
  expect(await bench.names()).toEqual(["lost"]);
});

test("a late write is done when its caller has given up", async () => {
  const bench = new Bench({ fault: "lateApply", afterMs: 5_000, match: { verbs: ["create"] } });
  expect((await bench.create("late")).error).toMatchObject({ code: "ERR_ANSWER_WITHHELD" });
  expect(await bench.names()).toEqual([]);
  await bench.host.clock.run(6_000);
  expect(await bench.names()).toEqual(["late"]);
});

test("a watch breaks at its time, after it has told what there was", async () => {
  const bench = new Bench({ fault: "cutWatch", minMs: 1_000, maxMs: 1_000 });
  await bench.create("a");
  const watch = await bench.watch();
  await bench.host.clock.run(900);
  expect([watch.told, watch.end()]).toEqual([["a"], ""]);
  await bench.host.clock.run(200);
  expect(watch.end()).toBe("ERR_ANSWER_WITHHELD");
});

test("a silent watch tells everything when it is over", async () => {
  const bench = new Bench({ fault: "silentWatch", afterMs: 1_000, forMs: 10_000 });
  const watch = await bench.watch();
  await bench.create("early");
  await bench.host.clock.run(2_000);
  await bench.create("hidden");
  await bench.host.clock.run(5_000);
  expect(watch.told).toEqual(["early"]);
  await bench.host.clock.run(5_000);
  expect(watch.told).toEqual(["early", "hidden"]);
});

test("a lagging view tells watches late, shows old lists, and knows no newer version", async () => {
  const bench = new Bench({ fault: "laggingView", lagMs: 5_000, match: { verbs: ["list", "watch"] } });
  await bench.create("old");
  await bench.host.clock.run(10_000);
  const watch = await bench.watch();
  await bench.create("new");
  await bench.host.clock.run(200);
  expect(watch.told).toEqual([]);
  expect(await bench.names({ resourceVersion: "0" })).toEqual(["old"]);
  expect(await bench.names()).toEqual(["new", "old"]);
  const query = { resourceVersion: String(bench.storage.revision), resourceVersionMatch: "NotOlderThan" };
  expect((await bench.send({ method: "GET", path, query })).error).toMatchObject({ status: { code: 504 } });
  await bench.host.clock.run(6_000);
  expect(watch.told).toEqual(["old", "new"]);
  expect(await bench.names({ resourceVersion: "0" })).toEqual(["new", "old"]);
});

test("a lagging watch that breaks at the moment of an event breaks, late", async () => {
  const bench = new Bench(
    { fault: "cutWatch", minMs: 1_000, maxMs: 1_000 },
    { fault: "laggingView", lagMs: 2_000, match: { verbs: ["watch"] } },
  );
  const watch = await bench.watch();
  await bench.host.clock.run(999);
  // The event and the end arrive in one turn.
  await Promise.all([bench.create("a"), bench.host.clock.run(1)]);
  await bench.host.clock.run(5_000);
  expect(watch).toMatchObject({ told: ["a"] });
  expect(watch.end()).toBe("ERR_ANSWER_WITHHELD");
});

test("what a rule holds back goes on when the rule is taken away", async () => {
  const bench = new Bench({ name: "lag", fault: "laggingView", lagMs: 600_000 });
  const watch = await bench.watch();
  await bench.create("a");
  await bench.host.clock.run(1_000);
  expect(watch.told).toEqual([]);
  expect((await bench.send({ method: "DELETE", path: "/setpoint/faults/lag" })).response?.status).toBe(200);
  await bench.host.clock.run(1);
  expect(watch.told).toEqual(["a"]);
});

test("410 and 504 hit resumed watches and continued lists, not new ones", async () => {
  const bench = new Bench({ fault: "gone", match: { verbs: ["watch"] } });
  expect((await bench.send({ method: "GET", path, query: { watch: "true" } })).response?.kind).toBe("watch");
  const resumed = await bench.send({ method: "GET", path, query: { watch: "true", resourceVersion: "2" } });
  expect(resumed.error).toMatchObject({ status: { code: 410, reason: "Expired" } });
});

test("the endpoint shows, adds, replaces and takes away rules, for masters alone", async () => {
  const bench = new Bench({ name: "a", fault: "conflict", match: { verbs: ["create"] } });
  await bench.create("x");
  const shown = await bench.send({ method: "GET", path: "/setpoint/faults" });
  expect(shown.response).toMatchObject({
    object: { rules: [{ name: "a", fault: "conflict", matched: 1, struck: 1 }] },
  });
  const added = await bench.send({ method: "POST", path: "/setpoint/faults", body: { fault: "gone", name: "b" } });
  expect(added.response).toMatchObject({ object: { rules: [{ name: "a" }, { name: "b" }] } });
  const bad = await bench.send({ method: "POST", path: "/setpoint/faults", body: { fault: "late" } });
  expect(bad.error).toMatchObject({ status: { code: 400 } });
  const replaced = await bench.send({ method: "PUT", path: "/setpoint/faults", body: { rules: [] } });
  expect(replaced.response).toMatchObject({ object: { rules: [] } });
  const missing = await bench.send({ method: "DELETE", path: "/setpoint/faults/none" });
  expect(missing.error).toMatchObject({ status: { code: 404 } });
  const other = await bench.send({ method: "GET", path: "/setpoint/faults" }, { username: "bob", groups: [] });
  expect(other.error).toMatchObject({ status: { code: 403 } });
});
