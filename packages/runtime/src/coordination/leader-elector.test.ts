import { failure, type ApiRequest, type ApiResponse, type StatusReason, type Transport } from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { sleep, type Host } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { LeaderElector } from "./leader-elector.ts";
import { Lease } from "./lease.ts";
import type { LeaderElectionOptions } from "./lease-options.ts";

const startMs = 50_000;
const at = (ms: number): string => `2026-01-01T00:00:${String((startMs + ms) / 1_000).padStart(2, "0")}.000000Z`;
const refused = (code: number, reason: StatusReason): ApiResponse => ({
  ...{ kind: "object", status: code, headers: {} },
  object: failure(code, reason, `the server says ${reason}`),
});

/** A server with one Lease, which answers late, refuses or stays silent on request, and "me", a candidate. */
function world(options: Partial<LeaderElectionOptions> = {}, chance = 0) {
  const simulated = simulatedHost(1, startMs);
  const { clock, lines } = simulated;
  const host: Host = { ...simulated, random: { ...simulated.random, next: () => chance } };
  const requests: string[] = [];
  const state = {
    answerMs: 0,
    writesFail: undefined as number | undefined,
    isSilent: false,
    lease: undefined as Stored<Lease> | undefined,
  };
  let revision = 0;
  const set = (spec: Lease["spec"]): void => {
    const metadata = { name: "shop", namespace: "default", uid: "the-lease", creationTimestamp: at(0) };
    state.lease = { ...Lease({ ...metadata, spec }), metadata: { ...metadata, resourceVersion: String(++revision) } };
  };
  const answer = ({ method, body }: ApiRequest): ApiResponse => {
    const present = state.lease;
    if (method !== "GET") {
      if (state.writesFail !== undefined) return refused(state.writesFail, "Forbidden");
      const sent = body as Lease;
      if (sent.metadata.resourceVersion !== present?.metadata.resourceVersion) return refused(409, "Conflict");
      set(sent.spec);
    }
    if (state.lease === undefined) return refused(404, "NotFound");
    return { kind: "object", status: 200, headers: {}, object: state.lease };
  };
  const transport: Transport = {
    async send(request, signal) {
      requests.push(`${(clock.monotonic() - startMs) / 1_000} s ${request.method}`);
      if (state.isSilent) return new Promise<never>(() => {});
      if (state.answerMs > 0) await sleep(clock, state.answerMs, signal);
      signal?.throwIfAborted();
      return answer(request);
    },
  };
  const client = createClient(transport, host);
  const elector = new LeaderElector(client, host, { name: "shop", namespace: "default", identity: "me", ...options });
  /** What comes of it within a minute of this world's time. */
  const soon = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false;
    const end = (): void => void (isOver = true);
    promise.then(end, end);
    if (!(await clock.run(60_000, () => isOver))) throw new Error("nothing came of it within a minute");
    return promise;
  };
  const stopper = new AbortController();
  const stop = (): void => stopper.abort(new Error("the test is over"));
  const warnings = (): string[] => lines.filter(({ level }) => level === "warn").map(({ message }) => message);
  const takes = requests.splice.bind(requests, 0, Number.POSITIVE_INFINITY);
  return { clock, elector, requests, requestsSince: takes, soon, set, state, signal: stopper.signal, stop, warnings };
}

/** The leader of a world, who keeps the lease from now on. */
async function leader(options: Partial<LeaderElectionOptions> = {}) {
  const made = world(options);
  await made.soon(made.elector.acquire(made.signal));
  made.requestsSince();
  const end: { reason?: string; atMs?: number } = {};
  const holding = made.elector
    .hold(made.signal)
    .then((reason) => Object.assign(end, { reason, atMs: made.clock.monotonic() - startMs }));
  return { ...made, end, holding };
}

test("a leader must stop writing before its lease is over: a renew deadline that is as long as the lease is refused", () => {
  const make = (renewDeadlineSeconds: number) => () => world({ leaseDurationSeconds: 12, renewDeadlineSeconds });
  expect(make(12)).toThrow("the renew deadline (12 s) must be shorter than the lease (12 s)");
  expect(make(12)).toThrow(expect.objectContaining({ code: "ERR_LEASE_OPTIONS" }));
  expect(make(11)).not.toThrow();
});

test("the first leader makes the lease, acquired and renewed now, without a transition", async () => {
  const { clock, elector, state, signal, soon } = world();
  expect([elector.isHeld, elector.holder]).toEqual([false, undefined]);
  await soon(elector.acquire(signal));
  expect(state.lease?.spec).toEqual({
    ...{ holderIdentity: "me", leaseDurationSeconds: 15, leaseTransitions: 0 },
    ...{ acquireTime: at(0), renewTime: at(0) },
  });
  expect([elector.isHeld, elector.holder, elector.heldForMs]).toEqual([true, "me", 10_000]);
  await clock.run(9_999);
  expect([elector.isHeld, elector.heldForMs]).toEqual([true, 1]);
  await clock.run(1);
  expect(elector.isHeld).toBe(false);
  expect(() => elector.assertHeld()).toThrow(`Cannot write as "me": it does not hold Lease "default/shop"`);
});

test("a renewal every two seconds, each of one request, moves renewTime and leaves acquireTime and leaseTransitions", async () => {
  const { clock, elector, requestsSince, state, stop, holding, soon } = await leader();
  await clock.run(6_500);
  expect(requestsSince()).toEqual(["2 s PUT", "4 s PUT", "6 s PUT"]);
  expect(state.lease?.spec).toMatchObject({ acquireTime: at(0), renewTime: at(6_000), leaseTransitions: 0 });
  expect(elector.heldForMs).toBe(9_500);
  stop();
  await soon(holding);
});

test("a process that comes back under its old name keeps the lease as it was acquired", async () => {
  const { elector, state, set, signal, soon } = world();
  set({ holderIdentity: "me", acquireTime: at(-9_000), leaseTransitions: 7 });
  await soon(elector.acquire(signal));
  expect(state.lease?.spec).toMatchObject({ acquireTime: at(-9_000), renewTime: at(0), leaseTransitions: 7 });
});

test.each([
  ["released", { holderIdentity: "", leaseTransitions: 3 }, 4],
  ["without a holder", { leaseTransitions: 3 }, 4],
  ["without a count of transitions", { holderIdentity: "" }, 1],
])("a lease that is %s is taken at once, which is one transition more", async (_, spec: Lease["spec"], transitions) => {
  const { clock, elector, state, set, signal, soon } = world();
  set({ ...spec, acquireTime: at(-9_000) });
  await soon(elector.acquire(signal));
  expect(clock.monotonic()).toBe(startMs);
  expect(state.lease?.spec).toMatchObject({ holderIdentity: "me", acquireTime: at(0), leaseTransitions: transitions });
});

test.each([
  ["for its own duration", 4, "4 s PUT"],
  ["without a duration, for the standby's", undefined, "6 s PUT"],
])("another holder's lease is taken when it was seen unchanged %s, not a moment later", async (_, duration, taken) => {
  const { clock, elector, requests, set, signal, soon } = world({ leaseDurationSeconds: 6, renewDeadlineSeconds: 5 });
  set({ holderIdentity: "you", ...(duration === undefined ? {} : { leaseDurationSeconds: duration }) });
  const acquiring = elector.acquire(signal);
  await clock.run(1_000);
  expect([elector.isHeld, elector.holder]).toEqual([false, "you"]);
  await clock.run(9_000, () => elector.isHeld);
  await soon(acquiring);
  expect(requests.at(-1)).toBe(taken);
  expect(elector.holder).toBe("me");
});

test("each renewal by the leader restarts the standby's count", async () => {
  const { clock, elector, requests, set, signal, soon } = world();
  set({ holderIdentity: "you", leaseDurationSeconds: 3 });
  const acquiring = elector.acquire(signal);
  await clock.run(3_000);
  set({ holderIdentity: "you", leaseDurationSeconds: 3 });
  await clock.run(10_000);
  await soon(acquiring);
  expect(requests).toEqual(["0 s GET", "2 s GET", "4 s GET", "6 s GET", "8 s GET", "8 s PUT"]);
});

test("standbys come every two seconds and up to a fifth later, so that they do not all come at once", async () => {
  const { clock, elector, requests, set, signal, stop, soon } = world({}, 0.5);
  set({ holderIdentity: "you", leaseDurationSeconds: 15 });
  const acquiring = elector.acquire(signal);
  await clock.run(5_000);
  stop();
  await expect(soon(acquiring)).rejects.toThrow("the test is over");
  expect(requests).toEqual(["0 s GET", "2.2 s GET", "4.4 s GET"]);
});

test("a server that needs a second for each answer makes a leader too, whose time counts from when it wrote", async () => {
  const { clock, elector, state, signal, requests, soon } = world();
  state.answerMs = 1_000;
  const acquiring = elector.acquire(signal);
  await clock.run(2_000);
  await soon(acquiring);
  expect(requests).toEqual(["0 s GET", "1 s POST"]);
  expect(elector.heldForMs).toBe(9_000);
});

test("a leader whose server falls silent has lost the lease when its time is over, not when the server answers", async () => {
  const { clock, elector, state, end } = await leader();
  state.isSilent = true;
  await clock.run(60_000);
  expect(end).toEqual({ reason: "lost", atMs: 10_000 });
  expect(elector.isHeld).toBe(false);
});

test("a leader whose lease another client has changed reads it, and renews what it finds", async () => {
  const { clock, elector, state, set, requestsSince, warnings, stop, holding, soon } = await leader();
  set({ ...state.lease?.spec });
  await clock.run(4_500);
  expect(requestsSince()).toEqual(["2 s PUT", "4 s GET", "4 s PUT"]);
  expect(warnings()).toEqual(["Lease was not renewed"]);
  expect(elector.heldForMs).toBe(9_500);
  stop();
  await soon(holding);
});

test("a leader that finds the lease in other hands stops at once, although its time is not over", async () => {
  const { clock, elector, set, end } = await leader();
  set({ holderIdentity: "you", leaseDurationSeconds: 15 });
  await clock.run(5_000);
  expect(end).toEqual({ reason: "lost", atMs: 4_000 });
  expect([elector.isHeld, elector.holder]).toEqual([false, "you"]);
});

test("a leader that is stopped while it waits renews no more, and gives the lease up with one request", async () => {
  const { clock, elector, state, stop, holding, end, requestsSince, warnings, soon } = await leader();
  await clock.run(1_000);
  stop();
  await soon(holding);
  expect(end).toEqual({ reason: "stopped", atMs: 1_000 });
  const releasing = elector.release();
  expect(elector.isHeld).toBe(false);
  await soon(releasing);
  expect(requestsSince()).toEqual(["1 s PUT"]);
  expect(state.lease?.spec).toMatchObject({ holderIdentity: "", leaseDurationSeconds: 1, renewTime: at(1_000) });
  await soon(elector.release());
  expect([requestsSince(), warnings()]).toEqual([[], []]);
});

test("a leader that is stopped while it renews says nothing of the renewal, and reads the lease before it gives it up", async () => {
  const { clock, elector, state, stop, holding, requestsSince, warnings, soon } = await leader();
  state.answerMs = 500;
  await clock.run(2_100);
  stop();
  await soon(holding);
  const releasing = elector.release();
  await clock.run(2_000);
  await soon(releasing);
  expect(requestsSince()).toEqual(["2 s PUT", "2.1 s GET", "2.6 s PUT"]);
  expect(state.lease?.spec.holderIdentity).toBe("");
  expect(warnings()).toEqual([]);
});

test.each([
  ["has gone", undefined],
  ["is another's", { holderIdentity: "you" }],
])("a lease that %s when it is to be given up is left alone", async (_, spec: Lease["spec"] | undefined) => {
  const { clock, elector, state, set, stop, holding, requestsSince, warnings, soon } = await leader();
  state.answerMs = 500;
  await clock.run(2_100);
  stop();
  await soon(holding);
  if (spec === undefined) state.lease = undefined;
  else set(spec);
  const releasing = elector.release();
  await clock.run(2_000);
  await soon(releasing);
  expect(requestsSince()).toEqual(["2 s PUT", "2.1 s GET"]);
  expect(warnings()).toEqual([]);
});

test("a lease that cannot be released is logged and left to expire", async () => {
  const { elector, state, stop, holding, warnings, soon } = await leader();
  state.writesFail = 403;
  stop();
  await soon(holding);
  await soon(elector.release());
  expect(warnings()).toEqual(["Lease was not released"]);
  expect(elector.isHeld).toBe(false);
});
