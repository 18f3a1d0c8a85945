import type { ApiResponse, Transport, WatchFrame } from "@setpoint/apimachinery";
import {
  FlightRecorder,
  FlightReplay,
  FlightRing,
  flightFormat,
  parseResourceRequest,
  type FlightEntry,
} from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { seededRandom, simulatedHost } from "@setpoint/host/simulated";
import { systemClock } from "@setpoint/host/system";
import { expect, test } from "vitest";

const ok = (object: unknown): ApiResponse => ({ kind: "object", status: 200, headers: {}, object });

/** Answers late, in another order than asked, with a watch and a failure among it. */
function world(host: Host): Transport {
  return {
    async send({ path }) {
      await sleep(host.clock, host.random.int(50));
      if (path === "/broken") throw Object.assign(new Error("no route"), { code: "EHOSTUNREACH" });
      if (path !== "/watch") return ok({ path, at: host.clock.monotonic() });
      async function* frames(): AsyncGenerator<WatchFrame> {
        for (let i = 0; i < 5; i++) {
          await sleep(host.clock, host.random.int(40));
          yield { type: "ADDED", object: { i } };
        }
        throw new Error("cut");
      }
      return { kind: "watch", status: 200, headers: {}, frames: frames() };
    },
  };
}

/** A program in which everything races: what it does depends on who is first. */
async function program(host: Host, transport: Transport, said: string[]): Promise<void> {
  const say = (text: string): void => void said.push(`${host.clock.now()} ${host.random.int(1_000)} ${text}`);
  const ask = async (path: string): Promise<void> => {
    try {
      const answer = await transport.send({
        method: "POST",
        path,
        body: { said: said.length, dice: host.random.int(6) },
      });
      say(answer.kind === "object" ? JSON.stringify(answer.object) : answer.kind);
      if (answer.kind === "watch") for await (const { object } of answer.frames) say(JSON.stringify(object));
    } catch (error) {
      say(`${String(error)} ${(error as { code?: string }).code}`);
    }
    if (said.length < 60) await ask(`/next-${said.length}`);
  };
  const wait = async (ms: number): Promise<void> => {
    await sleep(host.clock, ms);
    say(`slept ${ms}`);
    host.clock.defer(() => say("deferred"));
    if (said.length < 60) await wait(1 + host.random.int(30));
  };
  await Promise.all([ask("/watch"), ask("/a"), ask("/broken"), wait(10), wait(7)]);
}

interface Flight {
  readonly said: readonly string[];
  readonly entries: readonly FlightEntry[];
  readonly epochMs: number;
}

async function record(seed: number): Promise<Flight> {
  const host = simulatedHost(seed);
  const entries: FlightEntry[] = [];
  const sink = { add: (entry: FlightEntry) => entries.push(structuredClone(entry)) > 0 };
  const recorder = new FlightRecorder({ clock: host.clock, sink });
  const said: string[] = [];
  await host.clock.wait(program(recorder.host(host, seededRandom(7)), recorder.transport(world(host)), said));
  recorder.stop();
  return { said, entries, epochMs: recorder.epochMs };
}

test.each([1, 2, 3, 4, 5])(
  "with the recorded inputs a program does the same to the last word (world %i)",
  async (seed) => {
    const { said, entries, epochMs } = await record(seed);
    expect(said.length).toBeGreaterThanOrEqual(60);
    const header = { format: flightFormat, program: "p", seed: 7, epochMs } as const;
    const again: string[] = [];
    const replay = new FlightReplay({ header, entries, clock: systemClock });
    const host = simulatedHost(99);
    void program(replay.host(host, seededRandom(7)), replay.transport, again);
    expect(await replay.run()).toMatchObject({ divergence: undefined, end: "stopped" });
    expect(again).toEqual(said);
  },
);

test("a program that copies secrets of a text stream and of an error does the same again, and none is recorded", async () => {
  const secrets = ["postgres://me:canary-1@db/x", "https://me:canary-2@proxy", "canary-3"];
  const bytes = new TextEncoder().encode(`first\n${secrets[0]}\nlast`);
  const inner: Transport = {
    async send({ path }) {
      if (path === "/broken") throw new Error(secrets[1]);
      if (path !== "/log") return ok({});
      async function* chunks(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += 9) yield bytes.subarray(at, at + 9);
      }
      return { kind: "bytes", status: 200, headers: {}, bytes: chunks() };
    },
  };
  const copies = async (transport: Transport): Promise<void> => {
    const log = await transport.send({ method: "GET", path: "/log" });
    let text = "";
    if (log.kind === "bytes") for await (const chunk of log.bytes) text += new TextDecoder().decode(chunk);
    const broken: unknown = await transport.send({ method: "GET", path: "/broken" }).catch((error: unknown) => error);
    const body = { lines: text.split("\n"), why: broken instanceof Error ? broken.message : "", password: secrets[2] };
    await transport.send({ method: "POST", path: "/copy", body });
  };
  const { clock } = simulatedHost(1);
  const entries: FlightEntry[] = [];
  const recorder = new FlightRecorder({ clock, sink: { add: (entry) => entries.push(structuredClone(entry)) > 0 } });
  await clock.wait(copies(recorder.transport(inner)));
  recorder.stop();
  const kept = entries.map((entry) => (entry.kind === "chunk" ? atob(entry.base64) : JSON.stringify(entry))).join("");
  expect(kept).not.toContain("canary");
  expect(kept).toContain('"body":{"lines":["first","redacted-1","last"],"why":"redacted-2","password":"redacted-3"}');
  const header = { format: flightFormat, program: "p", seed: 7, epochMs: recorder.epochMs } as const;
  const replay = new FlightReplay({ header, entries, clock: systemClock });
  void copies(replay.transport);
  expect(await replay.run()).toMatchObject({ divergence: undefined, end: "stopped", requests: 3 });
});

test.each([false, true])(
  "a program that compares a secret it made with what it reads again does the same again (secrets kept: %s)",
  async (keepSecrets) => {
    const { clock } = simulatedHost(1);
    let stored: unknown;
    const inner: Transport = {
      async send({ method, body }) {
        const { data = {} } = (body ?? {}) as { data?: Record<string, string> };
        if (method === "POST") stored = { apiVersion: "v1", kind: "Secret", data };
        return ok(stored);
      },
    };
    const path = "/api/v1/namespaces/default/secrets";
    const keeps = async (transport: Transport, random: Host["random"]): Promise<void> => {
      const password = `made ${random.int(1_000_000)}`;
      const data = { password: btoa(password) };
      await transport.send({ method: "POST", path, body: { data } });
      const answer = await transport.send({ method: "GET", path: `${path}/one` });
      const { data: read = {} } = (answer.kind === "object" ? answer.object : {}) as { data?: Record<string, string> };
      const isSame = read["password"] === data.password;
      await transport.send({ method: "POST", path: "/said", body: { isSame } });
    };
    const entries: FlightEntry[] = [];
    const sink = { add: (entry: FlightEntry) => entries.push(structuredClone(entry)) > 0 };
    const recorder = new FlightRecorder({ clock, sink, keepSecrets });
    await clock.wait(keeps(recorder.transport(inner), seededRandom(7)));
    recorder.stop();
    expect(JSON.stringify(entries)).toContain('"body":{"isSame":true}');
    expect(JSON.stringify(entries).includes(btoa("made ").slice(0, 6))).toBe(keepSecrets);
    const header = { format: flightFormat, program: "p", seed: 7, epochMs: recorder.epochMs } as const;
    const replay = new FlightReplay({ header, entries, clock: systemClock });
    void keeps(replay.transport, seededRandom(7));
    expect(await replay.run()).toMatchObject({ divergence: undefined, end: "stopped", requests: 3 });
  },
);

test("a recording that was full when a request came is replayed up to there", async () => {
  const { clock } = simulatedHost(1);
  const entries: FlightEntry[] = [];
  const sink = { add: (entry: FlightEntry) => entry.kind !== "request" && entries.push(structuredClone(entry)) > 0 };
  const recorder = new FlightRecorder({ clock, sink });
  const asks = (transport: Transport): Promise<unknown> => transport.send({ method: "GET", path: "/a" });
  await Promise.all([asks(recorder.transport({ send: async () => ok({}) })), clock.run(10)]);
  const header = { format: flightFormat, program: "p", seed: 7, epochMs: recorder.epochMs } as const;
  const replay = new FlightReplay({ header, entries, clock: systemClock });
  void asks(replay.transport);
  expect(await replay.run()).toMatchObject({ divergence: undefined, end: "full" });
});

test("other randomness shows as a divergence", async () => {
  const { entries, epochMs } = await record(1);
  const header = { format: flightFormat, program: "p", seed: 7, epochMs } as const;
  const replay = new FlightReplay({ header, entries, clock: systemClock });
  void program(replay.host(simulatedHost(99), seededRandom(8)), replay.transport, []);
  expect((await replay.run()).divergence?.message).toMatch(/the program|not as recorded/);
});

test("a ring keeps the newest entries within its limit, and says how many are gone", () => {
  const ring = new FlightRing(10_000);
  for (let n = 1; n <= 5_000; n++) ring.add({ kind: "timer", n, at: n });
  expect(ring.bytes).toBeLessThanOrEqual(10_000);
  expect(ring.entries.at(-1)).toEqual({ kind: "timer", n: 5_000, at: 5_000 });
  expect(ring.dropped + ring.entries.length).toBe(5_000);
});

test.each([
  ["GET", "/api/v1/namespaces/a/pods/b/log", "get  pods/log a b"],
  ["GET", "/api/v1/namespaces/a", "get  namespaces  a"],
  ["PUT", "/api/v1/namespaces/a/finalize", "update  namespaces/finalize  a"],
  ["DELETE", "/apis/apps/v1/namespaces/a/deployments", "deletecollection apps deployments a "],
  ["POST", "/apis/apps/v1/namespaces/a/deployments", "create apps deployments a "],
  ["PATCH", "/apis/example.com/v1/boxes/b/status", "patch example.com boxes/status  b"],
  ["GET", "/apis/apps/v1", undefined],
  ["GET", "/healthz", undefined],
] as const)("%s %s is for the authorizer: %s", (method, path, expected) => {
  const asked = parseResourceRequest({ method, path });
  const shown =
    asked === undefined
      ? undefined
      : `${asked.verb} ${asked.group} ${asked.resource}${asked.subresource === "" ? "" : `/${asked.subresource}`} ${asked.namespace} ${asked.name}`;
  expect(shown).toBe(expected);
});
