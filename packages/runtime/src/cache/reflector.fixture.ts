/** A reflector of a server that follows a script, and everything that its target is told. */
import {
  createKind,
  failure,
  type ApiRequest,
  type ApiResponse,
  type KubeObject,
  type RawFrame,
  type RawResponse,
  type Status,
  type StatusReason,
  type Transport,
  type WatchEventType,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { sleep, type Clock, type Host } from "@setpoint/host";
import { simulatedHost } from "@setpoint/host/simulated";
import { Reflector, type ReflectorOptions } from "./reflector.ts";
import type { StagedObjects } from "./reflector-target.ts";

export const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });

export const box = (name: string, revision: number): object => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion: String(revision) },
});

/** Frames, waits in milliseconds between them, and how the stream ends; without an end it stays silent. */
export type Step = WatchFrame | number | "cut" | "end" | "ends when it is stopped";
export interface Listed {
  readonly list: readonly object[];
  readonly at: number;
  readonly ends?: "cut" | "late";
}
export type Script = readonly Step[] | Listed | Status;

export const frame = (type: WatchEventType, object: unknown): WatchFrame => ({ type, object });
export const modified = (name: string, revision: number): WatchFrame => frame("MODIFIED", box(name, revision));
export const bookmark = (revision: number): WatchFrame =>
  frame("BOOKMARK", { metadata: { resourceVersion: String(revision) } });
/** The end of the present objects. */
export const complete = (revision: number): WatchFrame =>
  frame("BOOKMARK", {
    metadata: { resourceVersion: String(revision), annotations: { "k8s.io/initial-events-end": "true" } },
  });
export const refused = (code: number, reason: StatusReason, details: object = {}): Status =>
  failure(code, reason, `the server says ${reason}`, details);
export const error = (code: number, reason: StatusReason, details: object = {}): WatchFrame =>
  frame("ERROR", refused(code, reason, details));

/** A connection that breaks before anything is said. */
export const nothing: Script = ["cut"];

const bytes = (object: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(object));
const nameIn = (of: Uint8Array): string =>
  (JSON.parse(new TextDecoder().decode(of)) as Stored<KubeObject>).metadata.name;

async function* played(
  clock: Clock,
  steps: readonly Step[],
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchFrame> {
  const aborted = new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
  for (const step of steps) {
    if (step === "end") return;
    if (step === "cut") throw new Error("the connection broke");
    if (step === "ends when it is stopped") return void (await aborted);
    // Not with the signal: what has come already is given also after the end.
    if (typeof step === "number") await sleep(clock, step);
    else yield step;
  }
  await aborted;
  throw signal?.reason;
}

async function* listed(clock: Clock, { list, ends }: Listed): AsyncGenerator<readonly Uint8Array[]> {
  for (const each of list) yield [bytes(each)];
  if (ends === "cut") throw new Error("the connection broke");
  if (ends !== "late") return;
  await sleep(clock, 1_000);
  yield [bytes(box("late", 1))];
}

export interface WorldOptions extends ReflectorOptions {
  readonly isRaw?: boolean;
  readonly kind?: typeof Box;
  readonly clock?: (inner: Clock) => Clock;
  readonly whenShown?: () => void;
}

/** `chance` is what randomness always says. Time begins at `startMs`, so that it is never 0. */
export const startMs = 700_000;

export function world(scripts: readonly Script[], options: WorldOptions = {}, chance = 0.5) {
  const { isRaw = false, kind = Box, clock: madeOf = (inner) => inner, whenShown, ...reflectorOptions } = options;
  const simulated = simulatedHost(1, startMs);
  const random = { ...simulated.random, next: () => chance, int: (below: number) => Math.floor(below * chance) };
  const host: Host = { ...simulated, random, clock: madeOf(simulated.clock) };
  const requests: ApiRequest[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const asked: string[] = [];
  const next = (request: ApiRequest, signal: AbortSignal | undefined): Script => {
    asked.push(`${simulated.clock.monotonic() - startMs} ${wayOf(request)}`);
    signals.push(signal);
    return scripts[requests.push(request) - 1] ?? [];
  };
  const { clock } = simulated;
  const ok = { status: 200, headers: {} };
  const isList = (script: Script): script is Listed => "list" in script;
  const isSteps = (script: Script): script is readonly Step[] => Array.isArray(script);
  const send = async (request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> => {
    const script = next(request, signal);
    if (isSteps(script)) return { ...ok, kind: "watch", frames: played(clock, script, signal) };
    if (!isList(script)) return { ...ok, kind: "object", status: script.code ?? 500, object: script };
    const metadata = { resourceVersion: String(script.at) };
    return { ...ok, kind: "object", object: { apiVersion: "v1", kind: "BoxList", metadata, items: script.list } };
  };
  const sendRaw = async (request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> => {
    const script = next(request, signal);
    if (isSteps(script)) return { ...ok, kind: "rawWatch", frames: packed(played(clock, script, signal)) };
    if (!isList(script)) return { ...ok, kind: "object", status: script.code ?? 500, object: script };
    const metadata = { resourceVersion: String(script.at) };
    return { ...ok, kind: "rawList", list: { batches: listed(clock, script), metadata: () => metadata } };
  };
  const transport: Transport = isRaw ? { send, sendRaw } : { send };
  const told: string[] = [];
  const shown: Stored<KubeObject>[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void told.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  const stage = (): StagedObjects => {
    const names: string[] = [];
    return {
      add: (of) => void names.push(nameIn(of)),
      remove: (of) => void names.push(`-${nameIn(of)}`),
      commit: async () => void told.push(`commit ${names.join()}`),
      discard: () => void told.push(`discard ${names.join()}`),
    };
  };
  const reflector = new Reflector(createClient(transport, host), host, kind, reflectorOptions, {
    replace(objects) {
      shown.push(...objects);
      whenShown?.();
      told.push(`replace ${objects.map(({ metadata }) => metadata.name).join()}`);
    },
    set: (object) => say("set", object),
    remove: (object) => say("remove", object),
    progress: (revision) => void told.push(`progress ${revision}`),
    restored: () => void told.push("restored"),
    stage,
    setRaw: (of) => void told.push(`set ${nameIn(of)}`),
    removeRaw: (scan) => void told.push(`remove ${scan.key()}`),
  });
  const stopper = new AbortController();
  let listeners = 0;
  const { signal } = stopper;
  const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
  signal.addEventListener = (...of: Parameters<typeof add>) => (listeners++, add(...of));
  signal.removeEventListener = (...of: Parameters<typeof remove>) => (listeners--, remove(...of));
  let isOver = false;
  void reflector.run(signal).finally(() => (isOver = true));
  const { lines, metrics } = simulated;
  return {
    ...{ asked, clock, lines, metrics, reflector, requests, shown, signals, told },
    isOver: () => isOver,
    listeners: () => listeners,
    stop: () => stopper.abort(new Error("the test is over")),
    ways: () => requests.map(wayOf),
  };
}

/** How objects are asked for: `list`, `page`, `newest`, or a `watch` from a revision, a `watchList` when it begins with all. */
function wayOf({ query }: ApiRequest): string {
  const revision = query?.["resourceVersion"] === undefined ? "" : `@${String(query["resourceVersion"])}`;
  if (query?.["watch"] !== undefined)
    return `${query["sendInitialEvents"] === "true" ? "watchList" : "watch"}${revision}`;
  const limit = query?.["limit"];
  return limit === undefined || limit === "0" ? "list" : limit === "1" ? "newest" : "page";
}

async function* packed(frames: AsyncGenerator<WatchFrame>): AsyncGenerator<readonly RawFrame[]> {
  for await (const { type, object } of frames) yield [{ type, object: bytes(object) }];
}
