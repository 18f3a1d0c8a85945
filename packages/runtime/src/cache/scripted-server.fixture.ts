/** A server of boxes that follows a script, and what it was asked. */
import {
  createKind,
  failure,
  type ApiRequest,
  type ApiResponse,
  type Kind,
  type KubeObject,
  type RawFrame,
  type RawResponse,
  type Status,
  type StatusReason,
  type Transport,
  type WatchEventType,
  type WatchFrame,
} from "@setpoint/apimachinery";
import { sleep, type Clock } from "@setpoint/host";

export const Box: Kind<KubeObject> = createKind<KubeObject>({
  ...{ group: "", version: "v1", kind: "Box", plural: "boxes" },
  namespaced: true,
});

/** As it is on the wire, without its type; `more` goes into its metadata. */
export const box = (name: string, revision: number, more: object = {}) => ({
  metadata: {
    ...{ name, namespace: "default", uid: name, resourceVersion: String(revision) },
    managedFields: [{}],
    ...more,
  },
  data: { size: name.length },
});

/** Frames, waits in milliseconds between them, and how the stream ends; without an end it stays silent. */
export type Step = WatchFrame | number | "cut" | "end" | "ends when it is stopped";
export interface Listed {
  readonly list: readonly object[];
  readonly at: number;
  /** Where the next page begins. */
  readonly more?: string;
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

/** A connection that breaks before the first byte. */
export const nothing: Script = ["cut"];

const bytes = (object: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(object));
async function* played(
  clock: Clock,
  steps: readonly Step[],
  signal: AbortSignal | undefined,
): AsyncGenerator<WatchFrame> {
  const aborted = new Promise<void>((resolve) => {
    if (signal?.aborted === true) resolve();
    else signal?.addEventListener("abort", () => resolve(), { once: true });
  });
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

export interface ScriptedServer {
  readonly transport: Transport;
  readonly requests: readonly ApiRequest[];
  /** One a request. */
  readonly signals: readonly (AbortSignal | undefined)[];
  /** The ways with their times, counted from the beginning. */
  readonly asked: readonly string[];
  ways(): readonly string[];
}

/** Answers one script after another, and with silence when there is none left; `isRaw` with bytes. */
export function scriptedServer(clock: Clock, scripts: readonly Script[], isRaw: boolean): ScriptedServer {
  const startMs = clock.monotonic();
  const requests: ApiRequest[] = [];
  const signals: (AbortSignal | undefined)[] = [];
  const asked: string[] = [];
  const next = (request: ApiRequest, signal: AbortSignal | undefined): Script => {
    asked.push(`${clock.monotonic() - startMs} ${wayOf(request)}`);
    signals.push(signal);
    return scripts[requests.push(request) - 1] ?? [];
  };
  const ok = { status: 200, headers: {} };
  const isList = (script: Script): script is Listed => "list" in script;
  const isSteps = (script: Script): script is readonly Step[] => Array.isArray(script);
  const metadataOf = ({ at, more }: Listed) => ({
    resourceVersion: String(at),
    ...(more === undefined ? {} : { continue: more }),
  });
  const send = async (request: ApiRequest, signal?: AbortSignal): Promise<ApiResponse> => {
    const script = next(request, signal);
    if (isSteps(script)) return { ...ok, kind: "watch", frames: played(clock, script, signal) };
    if (!isList(script)) return { ...ok, kind: "object", status: script.code ?? 500, object: script };
    const object = { apiVersion: "v1", kind: "BoxList", metadata: metadataOf(script), items: script.list };
    return { ...ok, kind: "object", object };
  };
  const sendRaw = async (request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> => {
    const script = next(request, signal);
    if (isSteps(script)) return { ...ok, kind: "rawWatch", frames: packed(played(clock, script, signal)) };
    if (!isList(script)) return { ...ok, kind: "object", status: script.code ?? 500, object: script };
    const list = { batches: listed(clock, script), metadata: () => metadataOf(script) };
    return { ...ok, kind: "rawList", list };
  };
  const transport: Transport = isRaw ? { send, sendRaw } : { send };
  return { transport, requests, signals, asked, ways: () => requests.map(wayOf) };
}

/**
 * How objects are asked for: `list`, `page`, `newest`, or a `watch` from a revision, a `watchList` when it
 * begins with all.
 */
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
