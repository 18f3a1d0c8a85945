/** One etcd of a mirror, by its JSON gateway. */
import { isTransferError } from "@setpoint/data-service/agent";
import { EtcdConnection, type Json, readCredentials } from "../engine/etcd-connection.ts";
import { linesOf } from "../engine/snapshot-stream.ts";
import {
  CompactedError,
  type GuardedChanges,
  type Head,
  type KeyChange,
  type KeyPage,
  type KeyRange,
  type MirrorDestination,
  MirrorProblem,
  type MirrorSource,
  type WatchMessage,
} from "./mirror-end.ts";

/** The keys of a page, at first; a page that is too large is asked for again with half as many. */
const pageKeysMax = 1_000;
/** One key may have 1.5 MiB, which are 2 MiB in base64. */
const pageBytesMax = 8 << 20;
/** etcd reports progress every ten minutes when nothing changes. */
const watchSilenceMsMax = 15 * 60_000;

export interface EndOptions {
  readonly side: "Source" | "Destination";
  readonly endpoints: readonly string[];
  /** A login may have rights for keys with this prefix alone. */
  readonly prefix: string;
  readonly secretFolder: string | undefined;
  readonly signal: AbortSignal;
}

/** Connects with the first call, to the first endpoint that answers. */
export function httpEnd(options: EndOptions): MirrorSource & MirrorDestination {
  const { side } = options;
  let connected: Promise<EtcdConnection> | undefined;
  const ask = async (path: string, body: Json, bytesMax?: number): Promise<Json> => {
    connected ??= connect(options);
    const connection = await connected;
    return connection.call(path, body, bytesMax).catch((error: unknown) => fail(side, error));
  };
  return {
    async head() {
      const { header } = await ask("/v3/kv/range", probeOf(options));
      return headOf(header);
    },
    pages: (range, revision) => pagesOf(ask, range, revision),
    async *watch(range, from) {
      connected ??= connect(options);
      const connection = await connected;
      const create = { ...rangeBody(range), start_revision: String(from), progress_notify: true, fragment: true };
      const answer = await connection
        .stream("/v3/watch", { create_request: create }, watchSilenceMsMax)
        .catch((error: unknown) => fail(side, error));
      try {
        for await (const line of linesOf(answer, connection.endpoint)) {
          const message = parseMessage(line);
          if (message !== undefined) yield message;
        }
      } catch (error) {
        fail(side, error);
      }
    },
    async record(key) {
      const { kvs = [] } = await ask("/v3/kv/range", { key: encoded(key) });
      const [found] = kvs as readonly Json[];
      if (found === undefined) return undefined;
      return { text: decoded(found["value"], "utf8"), revision: Number(found["mod_revision"] ?? 0) };
    },
    async commit(changes) {
      const answer = await ask("/v3/kv/txn", transactionOf(changes));
      return answer["succeeded"] === true ? headOf(answer["header"]).revision : undefined;
    },
  };
}

/** Any read tells the revision, and that there is a quorum. */
function probeOf({ prefix }: EndOptions): Json {
  return { key: encoded(prefix === "" ? "\0" : prefix), keys_only: true };
}

async function connect(options: EndOptions): Promise<EtcdConnection> {
  const { endpoints, secretFolder, signal, side } = options;
  const failures: unknown[] = [];
  for (const endpoint of endpoints) {
    signal.throwIfAborted();
    try {
      const connection = new EtcdConnection(endpoint, readCredentials(secretFolder), signal);
      await connection.open();
      await connection.call("/v3/kv/range", probeOf(options));
      return connection;
    } catch (error) {
      failures.push(error);
    }
  }
  const texts = failures.map((error) => (error instanceof Error ? error.message : String(error)));
  const isRefused = failures.length > 0 && failures.every((error) => isTransferError(error, "SourceRefused"));
  throw new MirrorProblem(`${side}${isRefused ? "Refused" : "Unreachable"}`, texts.join(" "));
}

/** Errors of a connection are those of a side; the text of etcd tells a compaction. */
function fail(side: EndOptions["side"], error: unknown): never {
  if (error instanceof MirrorProblem || error instanceof CompactedError) throw error;
  const message = error instanceof Error ? error.message : String(error);
  if (/revision has been compacted/.test(message)) throw new CompactedError(message);
  if (isTooLarge(error)) throw error;
  const isRefused = isTransferError(error, "SourceRefused");
  throw new MirrorProblem(`${side}${isRefused ? "Refused" : "Unreachable"}`, message, { cause: error });
}

function isTooLarge(error: unknown): boolean {
  return error instanceof Error && error.message.includes("an answer of more than");
}

type Ask = (path: string, body: Json, bytesMax?: number) => Promise<Json>;

/** All pages are of the revision of the first, unless it is given. */
async function* pagesOf(ask: Ask, { from, to }: KeyRange, revision?: number): AsyncGenerator<KeyPage> {
  let limit = pageKeysMax;
  for (let next = from; ;) {
    const range = { ...rangeBody({ from: next, to }), limit: String(limit) };
    let answer: Json;
    try {
      answer = await ask(
        "/v3/kv/range",
        revision === undefined ? range : { ...range, revision: String(revision) },
        pageBytesMax,
      );
    } catch (error) {
      if (!isTooLarge(error) || limit === 1) throw error;
      limit = Math.ceil(limit / 8);
      continue;
    }
    const kvs = (answer["kvs"] ?? []) as readonly Json[];
    const entries = kvs.map(({ key, value = "" }) => ({ key: decoded(key, "latin1"), value: String(value) }));
    yield { revision: headOf(answer["header"]).revision, entries };
    const last = entries.at(-1);
    if (answer["more"] !== true || last === undefined) return;
    next = `${last.key}\0`;
  }
}

function rangeBody({ from, to }: KeyRange): Json {
  return { key: encoded(from), range_end: encoded(to) };
}

function headOf(header: unknown): Head {
  const { cluster_id, revision } = (header ?? {}) as Json;
  return { clusterId: String(cluster_id ?? ""), revision: Number(revision ?? 0) };
}

function transactionOf({ recordKey, guard, changes, record }: GuardedChanges): Json {
  const key = encoded(recordKey);
  const put = record === undefined ? [] : [{ request_put: { key, value: Buffer.from(record).toString("base64") } }];
  return {
    compare: [{ key, target: "MOD", result: "EQUAL", mod_revision: String(guard) }],
    success: [...changes.map(operationOf), ...put],
  };
}

function operationOf({ key, value }: KeyChange): Json {
  return value === undefined
    ? { request_delete_range: { key: encoded(key) } }
    : { request_put: { key: encoded(key), value } };
}

interface RawMessage {
  readonly header?: Json;
  readonly events?: readonly { readonly type?: string; readonly kv?: Json }[];
  readonly canceled?: boolean;
  readonly cancel_reason?: string;
  readonly compact_revision?: string;
  readonly created?: boolean;
  readonly fragment?: boolean;
}

/** Undefined for a message that tells nothing about revisions. */
function parseMessage(line: string): WatchMessage | undefined {
  const { result, error } = JSON.parse(line) as { result?: RawMessage; error?: { message?: string } };
  if (error !== undefined) throw new Error(`etcd aborted the watch: ${String(error.message).slice(0, 200)}`);
  if (result?.compact_revision !== undefined && result.compact_revision !== "0")
    throw new CompactedError(`The source has compacted its history up to revision ${result.compact_revision}.`);
  if (result?.canceled === true)
    throw new Error(`etcd ended the watch: ${String(result.cancel_reason ?? "without a reason").slice(0, 200)}`);
  // The revision of this first answer may be ahead of events that are still to come.
  if (result === undefined || result.created === true) return undefined;
  const events = (result.events ?? []).map(({ type, kv = {} }) => ({
    key: decoded(kv["key"], "latin1"),
    revision: Number(kv["mod_revision"] ?? 0),
    ...(type === "DELETE" ? {} : { value: String(kv["value"] ?? "") }),
  }));
  const isPart = result.fragment === true;
  // A message with events may have a header that is ahead of them: a watcher that catches up gets its
  // changes in portions. Only a message without events says that nothing is missing.
  const revision = events.at(-1)?.revision ?? headOf(result.header).revision;
  return { events, isPart, revision };
}

function encoded(text: string): string {
  return Buffer.from(text, "latin1").toString("base64");
}

function decoded(value: unknown, encoding: "latin1" | "utf8"): string {
  return Buffer.from(String(value ?? ""), "base64").toString(encoding);
}
