/** An informer of a server that answers with bytes, one script after another. */
import {
  createKind,
  failure,
  type ApiRequest,
  type KubeObject,
  type RawFrame,
  type RawResponse,
  type Transport,
  type WatchEventType,
} from "@setpoint/apimachinery";
import { createClient, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { Informer, type InformerOptions } from "./informer.ts";

const Box = createKind<KubeObject>({ group: "", version: "v1", kind: "Box", plural: "boxes", namespaced: true });
const encoder = new TextEncoder();

export const box = (name: string, resourceVersion: number, fields: object = {}, uid = name) => ({
  metadata: {
    name,
    namespace: "default",
    uid,
    resourceVersion: String(resourceVersion),
    managedFields: [{}],
    ...fields,
  },
  data: { size: name.length },
});
export const frame = (type: WatchEventType, object: unknown): RawFrame => ({
  type,
  object: encoder.encode(JSON.stringify(object)),
});
export const bookmark = (resourceVersion: number, isEnd = false): RawFrame =>
  frame("BOOKMARK", {
    metadata: {
      resourceVersion: String(resourceVersion),
      ...(isEnd ? { annotations: { "k8s.io/initial-events-end": "true" } } : {}),
    },
  });

export type Script =
  | { readonly list: readonly object[]; readonly at: number; readonly more?: string; readonly isCut?: boolean }
  | { readonly frames: readonly (RawFrame | "cut" | "end")[] }
  | { readonly refuse: number };

function answer(script: Script, signal: AbortSignal | undefined): RawResponse {
  const head = { status: 200, headers: {} };
  if ("refuse" in script) {
    const status = failure(script.refuse, "TooManyRequests", "storage is (re)initializing", { retryAfterSeconds: 1 });
    return { ...head, status: script.refuse, kind: "object", object: status };
  }
  if ("list" in script) {
    const { list, at, more = "", isCut } = script;
    async function* batches(): AsyncGenerator<readonly Uint8Array[]> {
      for (const each of list) yield [encoder.encode(JSON.stringify(each))];
      if (isCut === true) throw new Error("the connection broke");
    }
    const metadata = { resourceVersion: String(at), continue: more };
    return { ...head, kind: "rawList", list: { batches: batches(), metadata: () => metadata } };
  }
  async function* frames(): AsyncGenerator<readonly RawFrame[]> {
    for (const each of (script as { readonly frames: readonly (RawFrame | "cut" | "end")[] }).frames) {
      if (each === "end") return;
      if (each === "cut") throw new Error("the connection broke");
      yield [each];
    }
    await new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason), { once: true }));
  }
  return { ...head, kind: "rawWatch", frames: frames() };
}

export function start(scripts: readonly Script[], options: InformerOptions = {}) {
  const requests: ApiRequest[] = [];
  const sendRaw = async (request: ApiRequest, signal?: AbortSignal): Promise<RawResponse> => {
    requests.push(request);
    return answer(scripts[requests.length - 1] ?? { frames: [] }, signal);
  };
  const transport: Transport = { send: () => Promise.reject(new Error("not asked for")), sendRaw };
  const host = simulatedHost(1);
  const informer = new Informer(createClient(transport, host), host, Box, options);
  const log: string[] = [];
  const say = (what: string, { metadata }: Stored<KubeObject>): void =>
    void log.push(`${what} ${metadata.name}@${metadata.resourceVersion}`);
  informer.addHandler({
    onAdd: (each) => say("add", each),
    onUpdate: (old, each) => say(`${old.metadata.resourceVersion} to`, each),
    onDelete: (each) => say("delete", each),
  });
  const stopper = new AbortController();
  const running = informer.run(stopper.signal);
  const stop = async (): Promise<void> => {
    stopper.abort(new Error("the test is over"));
    await running;
  };
  const ways = (): string[] =>
    requests.map(({ query }) =>
      query?.["watch"] === undefined
        ? query?.["limit"] === undefined
          ? "list"
          : "page"
        : query["sendInitialEvents"] === "true"
          ? "watchList"
          : "watch",
    );
  return { host, informer, log, ways, requests, stop };
}
