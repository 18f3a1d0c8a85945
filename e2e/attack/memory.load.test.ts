/**
 * Loads that filled the memory of a server until it ended: large objects that change, large lists, readers
 * that do not read, and more than fits. Each runs under a heap of 512 MB. `ATTACK_MINUTES` makes them last
 * longer.
 */
import { Agent, request } from "node:https";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { type RawAnswer, Target } from "./target.ts";

const heapMb = 512;
const flags = ["--nodes", "0"] as const;
const minutes = Number(process.env["ATTACK_MINUTES"] ?? 0);
const loadMs = minutes > 0 ? minutes * 60_000 : 8_000;
const timeoutMs = loadMs + 120_000;
const collection = "/api/v1/namespaces/default/configmaps";
const mergePatch = { "content-type": "application/merge-patch+json" };
const megabyte = 1024 * 1024;
const figures: string[] = [];

afterAll(() => console.log(figures.join("\n")));

/** A client of the administrator with connections that it keeps. */
class KeptClient implements Disposable {
  readonly #agent: Agent;
  readonly #target: Target;

  constructor(target: Target) {
    const { ca, cert, key } = target.connection;
    this.#target = target;
    this.#agent = new Agent({ keepAlive: true, ca, cert, key });
  }

  send(method: string, path: string, body?: string, own: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.#target.url;
      const headers = { ...(body === undefined ? {} : { "content-type": "application/json" }), ...own };
      const sent = request({ host: hostname, port, method, path, headers, agent: this.#agent }, (answer) => {
        let length = 0;
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => {
          length += chunk.length;
          // Whole lists are not needed, and this process has a memory, too.
          if (length < megabyte) chunks.push(chunk);
        });
        answer.once("error", reject);
        answer.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            body: length < megabyte ? text : `${length}`,
          });
        });
      });
      sent.once("error", reject);
      sent.end(body);
    });
  }

  /** A watch whose answer is never read. */
  watchUnread(): void {
    const { hostname, port } = this.#target.url;
    const sent = request({ host: hostname, port, path: `${collection}?watch=true`, agent: this.#agent }, (answer) => {
      answer.pause();
      answer.on("error", () => {});
    });
    sent.on("error", () => {});
    sent.end();
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}

const large = (name: string, mark: string): string =>
  JSON.stringify({ metadata: { name }, data: { value: mark.padEnd(900_000, mark) } });

/** Makes large objects; resolves to the revision of the first one. */
async function fill(client: KeptClient, count: number): Promise<string> {
  let first = "";
  for (let i = 0; i < count; i++) {
    const { status, headers } = await client.send("POST", collection, large(`large-${i}`, `${i}-`));
    expect([status, headers["content-type"]]).toEqual([201, "application/json"]);
    if (i === 0) {
      const partial = { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" };
      const { body } = await client.send("GET", `${collection}/large-0`, undefined, partial);
      first = JSON.parse(body).metadata.resourceVersion;
    }
  }
  return first;
}

/**
 * Four writers change four large objects until the time is over; resolves to how many answers there were of
 * each status.
 */
async function patchUntil(target: Target, endMs: number): Promise<Record<number, number>> {
  const statuses: Record<number, number> = {};
  const writer = async (i: number): Promise<void> => {
    using client = new KeptClient(target);
    for (let round = 0; performance.now() < endMs; round++) {
      // One wide character makes V8 keep all of the text in two bytes a character.
      const patch = JSON.stringify({ data: { value: `€${i}-${round}-`.padEnd(900_000, `${round}`) } });
      const { status } = await client.send("PATCH", `${collection}/large-${i}`, patch, mergePatch);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === 429) await delay(100);
    }
  };
  await Promise.all([0, 1, 2, 3].map(writer));
  return statuses;
}

/** The slowest of some reads before the load. */
async function quietLatencyMs(target: Target): Promise<number> {
  await using bystander = target.bystander(10);
  await expect.poll(() => bystander.latenciesMs.length, { timeout: 30_000 }).toBeGreaterThan(8);
  return bystander.worstMs;
}

interface Load {
  readonly peakBytes: number;
  readonly restBytes: number;
}

/** Runs a load beside a bystander, and writes down what it cost. */
async function underLoad(what: string, target: Target, load: () => Promise<string>): Promise<Load> {
  const quietMs = await quietLatencyMs(target);
  const beforeBytes = target.residentBytes();
  let peakBytes = 0;
  const sampler = setInterval(() => {
    if (target.isRunning) peakBytes = Math.max(peakBytes, target.residentBytes());
  }, 100);
  await using bystander = target.bystander(50);
  let result = "";
  try {
    result = await load();
  } finally {
    clearInterval(sampler);
    const p99 = bystander.quantile(0.99).toFixed(0);
    const megabytes = [beforeBytes, peakBytes].map((bytes) => (bytes / megabyte).toFixed(0));
    figures.push(
      `${what}: resident before ${megabytes[0]} MB, peak ${megabytes[1]} MB; bystander quiet ${quietMs.toFixed(0)} ms, p99 ${p99} ms, worst ${bystander.worstMs.toFixed(0)} ms; ${result}`,
    );
  }
  expect(target.isRunning, target.output.slice(-2_000)).toBe(true);
  expect(bystander.failures).toEqual([]);
  // A busy machine makes both slower.
  expect(bystander.worstMs).toBeLessThan(Math.max(5_000, 30 * quietMs));
  await delay(3_000);
  const restBytes = target.residentBytes();
  figures.push(`  resident 3 s later ${(restBytes / megabyte).toFixed(0)} MB`);
  return { peakBytes, restBytes };
}

test(
  "four clients that patch objects of 900 kB do not end the server",
  async () => {
    await using target = await Target.start({ heapMb, flags });
    using client = new KeptClient(target);
    const first = await fill(client, 4);
    const { peakBytes } = await underLoad("patches of 900 kB", target, async () =>
      JSON.stringify(await patchUntil(target, performance.now() + loadMs)),
    );
    expect(peakBytes).toBeLessThan(1_000 * megabyte);
    const { items } = JSON.parse((await client.send("GET", `${collection}?labelSelector=none=none`)).body);
    expect(items).toEqual([]);
    // The history is bounded by bytes, so the first revisions are gone long before five minutes.
    const old = await client.send("GET", `${collection}?watch=true&resourceVersion=${first}&timeoutSeconds=1`);
    expect(JSON.parse(old.body.split("\n")[0] ?? "")).toMatchObject({ type: "ERROR", object: { code: 410 } });
  },
  timeoutMs,
);

test(
  "readers of watches that do not read cannot hold what changed",
  async () => {
    await using target = await Target.start({ heapMb, flags });
    using client = new KeptClient(target);
    await fill(client, 4);
    using readers = new KeptClient(target);
    for (let i = 0; i < 30; i++) readers.watchUnread();
    const { peakBytes } = await underLoad("30 unread watches", target, async () =>
      JSON.stringify(await patchUntil(target, performance.now() + loadMs)),
    );
    expect(peakBytes).toBeLessThan(1_200 * megabyte);
  },
  timeoutMs,
);

test(
  "twenty lists of 50 MB at once are answered or refused, and a bystander is served",
  async () => {
    await using target = await Target.start({ heapMb, flags });
    using client = new KeptClient(target);
    await fill(client, 56);
    const { peakBytes, restBytes } = await underLoad("20 lists of 50 MB", target, async () => {
      const endMs = performance.now() + (minutes > 0 ? loadMs : 1);
      const statuses: Record<number, number> = {};
      do {
        const answers = await Promise.all(Array.from({ length: 20 }, () => client.send("GET", collection)));
        for (const { status } of answers) statuses[status] = (statuses[status] ?? 0) + 1;
      } while (performance.now() < endMs);
      return JSON.stringify(statuses);
    });
    expect(peakBytes).toBeLessThan(1_000 * megabyte);
    expect(restBytes).toBeLessThan(800 * megabyte);
  },
  timeoutMs,
);

test(
  "a store that outgrows its budget refuses writes and takes deletions",
  async () => {
    await using target = await Target.start({ heapMb, flags });
    using client = new KeptClient(target);
    let stored = 0;
    const full = await (async (): Promise<RawAnswer> => {
      for (;;) {
        const answer = await client.send("POST", collection, large(`large-${stored}`, "x"));
        if (answer.status !== 201) return answer;
        stored++;
      }
    })();
    figures.push(
      `full after ${stored} objects of 900 kB, resident ${(target.residentBytes() / megabyte).toFixed(0)} MB`,
    );
    expect([full.status, JSON.parse(full.body).message]).toEqual([500, "etcdserver: mvcc: database space exceeded"]);
    expect(stored).toBeGreaterThan(100);
    const metrics = (await client.send("GET", "/metrics")).body;
    const used = Number(/^setpoint_memory_used_bytes\{buffer="stored"\} (\d+)$/m.exec(metrics)?.[1]);
    const budget = Number(/^setpoint_memory_budget_bytes\{buffer="stored"\} (\d+)$/m.exec(metrics)?.[1]);
    expect(used).toBeGreaterThan(0.99 * budget);
    expect(used).toBeLessThanOrEqual(budget);
    for (let i = 0; i < 20; i++) expect((await client.send("DELETE", `${collection}/large-${i}`)).status).toBe(200);
    expect((await client.send("POST", collection, large("again", "x"))).status).toBe(201);
    expect(target.isRunning).toBe(true);
  },
  timeoutMs,
);
