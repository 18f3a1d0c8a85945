import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { apiVersionOf } from "@setpoint/apimachinery";
import { systemHost } from "@setpoint/host/system";
import { controller, seconds } from "setpoint";
import { hookController, httpHook, readCompositeController, serveHooks, type HookCaller } from "setpoint/hook";
import { describe, expect, test } from "vitest";
import { Candy, ConfigMap, createHookWorld, Secret, type HookWorld } from "./hook-world.fixture.ts";

/**
 * The function whose host is to make no difference: wrappers by flavor, sweetened by a Secret, unwrapped in
 * the end.
 */
const candies = controller(Candy, {
  name: "candies",
  owns: { wrappers: ConfigMap },
  related: { sugar: Secret },
  customize: ({ spec }) => ({ sugar: { names: spec.secret === undefined ? [] : [spec.secret] } }),
  desired: (candy, { wrappers }, _cache, { sugar }) => ({
    children: candy.spec.flavors.map((flavor) =>
      ConfigMap({ name: `${candy.metadata.name}-${flavor}`, namespace: "default", data: { flavor } }),
    ),
    status: { wrappers: wrappers.length, sweetness: sugar[0]?.data?.["sugar"] ?? "none" },
    conditions: [
      { type: "Sweet", status: sugar.length > 0 ? "True" : "False", reason: "Tasted", message: "By the cook" },
    ],
  }),
  finalize: (_candy, { wrappers }) => ({ children: [], finalized: wrappers.length === 0 }),
});

const composite = (url: string): object => ({
  apiVersion: "metacontroller.k8s.io/v1alpha1",
  kind: "CompositeController",
  metadata: { name: "candies" },
  spec: {
    parentResource: { apiVersion: apiVersionOf(Candy), resource: "candies" },
    childResources: [{ apiVersion: "v1", resource: "configmaps", updateStrategy: { method: "InPlace" } }],
    relatedResources: [{ apiVersion: "v1", resource: "secrets" }],
    hooks: {
      sync: { webhook: { url: `${url}/candies/sync`, timeout: "5s" } },
      finalize: { webhook: { url: `${url}/candies/finalize` } },
      customize: { webhook: { url: `${url}/candies/customize` } },
    },
  },
});

type Start = (world: HookWorld, url: string) => Promise<void>;

const hosts: Readonly<Record<string, Start>> = {
  "in this process": (world) => world.start(candies),
  "behind an HTTP hook": ({ host: { clock }, start }, url) =>
    start(
      hookController({
        kind: Candy,
        name: "candies",
        children: [ConfigMap],
        related: [Secret],
        sync: httpHook(`${url}/candies/sync`, { clock }),
        finalize: httpHook(`${url}/candies/finalize`, { clock }),
        customize: httpHook(`${url}/candies/customize`, { clock }),
      }),
    ),
  "declared in YAML": async ({ client, host: { clock }, start }, url) =>
    start(
      readCompositeController(composite(url), {
        mapper: await client.discover(),
        connect: (address, timeoutMs) =>
          httpHook(address, { clock, ...(timeoutMs === undefined ? {} : { timeoutMs }) }),
      }),
    ),
};

/** The life of a candy, as it is seen at each stage. */
async function life(start: Start): Promise<readonly unknown[]> {
  await using world = await createHookWorld();
  await using hooks = await serveHooks([candies], { host: world.host });
  const { client, until, seen } = world;
  const lolly = { name: "lolly", namespace: "default" };
  const stages: unknown[] = [];
  const reach = async (what: string, text: string): Promise<void> => {
    await until(what, async () => JSON.stringify(await seen("lolly")).includes(text));
    stages.push(await seen("lolly"));
  };
  await client.create(Candy, Candy({ ...lolly, spec: { flavors: ["mint", "lime"], secret: "cane" } }));
  await start(world, hooks.url);
  await reach("wrapped", '"wrappers":2,');
  await client.create(Secret, Secret({ ...lolly, name: "cane", data: { sugar: "c3VnYXI=" } }));
  await reach("a related object wakes it", "c3VnYXI=");
  await client.patch(Candy, lolly, { spec: { flavors: ["plum"] } });
  await reach("pruned", '"wrappers":1,');
  await client.delete(Candy, lolly);
  await until("gone", async () => (await client.listAll(Candy)).items.length === 0);
  stages.push(
    (await client.listAll(ConfigMap, { namespace: "default" })).items.filter(({ metadata }) =>
      metadata.name.startsWith("lolly"),
    ),
  );
  return stages;
}

describe("one function gives the same children and status in every host", () => {
  test.each(Object.keys(hosts))("%s", async (name) => {
    const start = hosts[name];
    if (start === undefined) throw new Error(name);
    const wrappers = (...flavors: readonly string[]): unknown =>
      flavors.map((flavor) => [`lolly-${flavor}`, { flavor }]);
    const conditions = (status: string): unknown => [
      { type: "Sweet", status, reason: "Tasted", message: "By the cook" },
    ];
    expect(await life(start)).toEqual([
      {
        wrappers: wrappers("lime", "mint"),
        status: { wrappers: 2, sweetness: "none", conditions: conditions("False") },
      },
      {
        wrappers: wrappers("lime", "mint"),
        status: { wrappers: 2, sweetness: "c3VnYXI=", conditions: conditions("True") },
      },
      { wrappers: wrappers("plum"), status: { wrappers: 1, sweetness: "c3VnYXI=", conditions: conditions("True") } },
      [],
    ]);
  });
});

/** A server that answers every request by itself. */
async function answering(
  answer: (body: string) => {
    readonly code?: number;
    readonly text: string;
    readonly headers?: Record<string, string>;
  },
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { code = 200, text, headers = {} } = answer(Buffer.concat(chunks).toString());
      response.writeHead(code, headers).end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const { clock } = systemHost({ write: () => {} });
const never = new AbortController().signal;

describe("httpHook() says what is wrong with a hook", () => {
  test.each([
    [{ code: 500, text: "boom" }, "it answered 500: boom"],
    [{ text: "<html>" }, "its answer is no JSON"],
    [{ text: `"${"x".repeat(2_000)}"` }, "its answer is larger than 1000 bytes"],
    [{ code: 503, text: "", headers: { "retry-after": "7" } }, "it is busy for 7 s"],
  ])("%o", async (answer, message) => {
    await using server = await answering(() => answer);
    const hook = httpHook(server.url, { clock, answerBytesMax: 1_000 });
    await expect(hook.call({}, never)).rejects.toThrow(`Cannot ask hook ${server.url}: ${message}`);
  });

  test("that does not answer in time, or is not there", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    await expect(httpHook(url, { clock, timeoutMs: 20 }).call({}, never)).rejects.toThrow(
      "it has not answered within 0.02 s",
    );
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
    await expect(httpHook(url, { clock }).call({}, never)).rejects.toThrow("it cannot be reached");
  });

  test("a call ends with the run that made it", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/`;
    const run = new AbortController();
    const call = httpHook(url, { clock }).call({}, run.signal);
    run.abort(new Error("the manager stops"));
    await expect(call).rejects.toThrow("the manager stops");
    silent.closeAllConnections();
    await new Promise((resolve) => silent.close(resolve));
  });
});

test("a hook that answers nonsense changes nothing, and is asked again", async () => {
  await using world = await createHookWorld();
  let asked = 0;
  const nonsense: readonly unknown[] = [{ children: "none" }, { children: [{ kind: "ConfigMap" }] }, { status: [] }, 7];
  const sync: HookCaller = {
    name: "hook nonsense",
    call: async () => nonsense[asked++] ?? { children: [], status: { wrappers: 7 } },
  };
  await world.client.create(Candy, Candy({ name: "lolly", namespace: "default", spec: { flavors: [] } }));
  await world.start(hookController({ kind: Candy, children: [ConfigMap], sync }));
  await world.until("a good answer", async () => JSON.stringify(await world.seen("lolly")).includes('"wrappers":7'));
  expect(asked).toBeGreaterThan(nonsense.length);
});

test("a hook may ask to be asked again", async () => {
  await using world = await createHookWorld();
  let asked = 0;
  const sync: HookCaller = {
    name: "hook",
    call: async () => ({ children: [], status: { wrappers: ++asked }, resyncAfterSeconds: 0.01 }),
  };
  await world.client.create(Candy, Candy({ name: "lolly", namespace: "default", spec: { flavors: [] } }));
  await world.start(hookController({ kind: Candy, children: [ConfigMap], sync }));
  await world.until("asked three times", async () => asked >= 3);
});

describe("serveHooks() answers nobody who asks for what it does not have", () => {
  const post = async (url: string, body: string): Promise<string> => {
    const response = await fetch(url, { method: "POST", body });
    return `${response.status} ${await response.text()}`;
  };

  test("in the words of the request", async () => {
    const host = systemHost({ write: () => {} });
    const plain = controller(Candy, { name: "plain", reconcile: async () => {} });
    const nosy = controller(Candy, {
      name: "nosy",
      desired: (_c, _o, cache) => ({
        children: [],
        status: { wrappers: cache.list(Candy, { allNamespaces: true }).length },
      }),
    });
    await using hooks = await serveHooks([candies, plain, nosy], { host, requestBytesMax: 1_000 });
    const parent = {
      apiVersion: apiVersionOf(Candy),
      kind: "Candy",
      metadata: { name: "a", uid: "u" },
      spec: { flavors: [] },
    };
    const request = JSON.stringify({ parent });
    expect(await post(`${hooks.url}/other/sync`, "{}")).toBe('404 {"error":"no such hook"}');
    expect(await post(`${hooks.url}/candies/sync`, "{")).toBe('400 {"error":"the request is no JSON"}');
    expect(await post(`${hooks.url}/candies/sync`, "{}")).toMatch(/^400 .*it has no `parent`/);
    expect(await post(`${hooks.url}/candies/sync`, "x".repeat(2_000))).toMatch(/^413 /);
    expect(await post(`${hooks.url}/plain/sync`, request)).toMatch(/^400 .*is not of the pure form/);
    expect(await post(`${hooks.url}/nosy/sync`, request)).toMatch(/^400 .*reads the cache; name what it needs/);
    expect((await fetch(`${hooks.url}/candies/sync`)).status).toBe(405);
  });
});

test("an answer that JSON does not have is a 500, and the hooks go on", async () => {
  const host = systemHost({ write: () => {} });
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const odd = controller(Candy, {
    name: "odd",
    // What an author's program may do that its types forbid.
    desired: () => ({ children: [], status: { wrappers: circle as unknown as number } }),
  });
  await using hooks = await serveHooks([odd], { host });
  const parent = {
    ...{ apiVersion: apiVersionOf(Candy), kind: "Candy", spec: { flavors: [] } },
    metadata: { name: "a", uid: "u" },
  };
  const ask = () => fetch(`${hooks.url}/odd/sync`, { method: "POST", body: JSON.stringify({ parent }) });
  expect((await ask()).status).toBe(500);
  expect(await (await ask()).text()).toContain("circular");
});

test("a CompositeController that wants what there is not is refused in the words of the manifest", async () => {
  await using world = await createHookWorld();
  const mapper = await world.client.discover();
  const connect = (url: string): HookCaller => httpHook(url, { clock, timeoutMs: seconds(1) });
  const read = (change: (spec: Record<string, unknown>) => void): unknown => {
    const manifest = structuredClone(composite("http://127.0.0.1:1")) as { spec: Record<string, unknown> };
    change(manifest.spec);
    return readCompositeController(manifest, { mapper, connect });
  };
  const rolling = { apiVersion: "v1", resource: "pods", updateStrategy: { method: "RollingInPlace" } };
  const prefix = 'Cannot use CompositeController "candies": ';
  expect(() => read((spec) => void (spec["childResources"] = [rolling]))).toThrow(
    `${prefix}updateStrategy "RollingInPlace" is not supported; InPlace, Recreate and OnDelete are`,
  );
  expect(() => read((spec) => void (spec["hooks"] = {}))).toThrow(`${prefix}hooks.sync.webhook.url is missing`);
  expect(() => read((spec) => void (spec["parentResource"] = { apiVersion: "v1", resource: "sweets" }))).toThrow(
    'Cannot find resource "sweets": the server does not serve it',
  );
  expect(() => readCompositeController({ kind: "Pod" }, { mapper, connect })).toThrow("it is a Pod, or it has no name");
});
