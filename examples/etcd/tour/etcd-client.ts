/** A client of etcd's JSON gateway, as a user's program would be one. */
import { createHash } from "node:crypto";
import { Agent as PlainAgent, request as requestPlain } from "node:http";
import { Agent as SecureAgent, request as requestSecure } from "node:https";

export interface EtcdClient {
  /** All later calls are those of this user. Resolves with the token, which all members know. */
  logIn(name: string, password: string): Promise<string>;
  put(key: string, value: string): Promise<void>;
  delete(key: string): Promise<void>;
  get(key: string): Promise<string | undefined>;
  /** What this member has, also when it is behind the others or cut off from them. */
  getSerializable(key: string): Promise<string | undefined>;
  keys(prefix: string): Promise<ReadonlySet<string>>;
  members(): Promise<readonly EtcdMember[]>;
  status(): Promise<EtcdMemberStatus>;
  /** The hash of this member's keys, with their values and revisions, as of one revision. */
  hash(revision: number): Promise<string>;
  close(): void;
}

export interface EtcdMember {
  readonly id: string;
  readonly name: string;
  readonly learner: boolean;
}

export interface EtcdMemberStatus {
  readonly id: string;
  readonly leader: string;
  readonly version: string;
  readonly revision: number;
}

type Json = Readonly<Record<string, unknown>>;

const base64 = (text: string): string => Buffer.from(text).toString("base64");
const plain = (text: unknown): string => Buffer.from(String(text ?? ""), "base64").toString();
const hex = (decimal: unknown): string => BigInt(String(decimal ?? 0)).toString(16);
/** A zero byte: as both ends of a range it stands for all keys. */
const everyKey = base64("\0");
/** The key after the last one with this prefix. */
const prefixEnd = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

/**
 * A cluster with TLS: an address with `https`, the name in its certificate, and the files of its client
 * Secret.
 */
export interface SecureEndpoint {
  readonly url: string;
  readonly serverName: string;
  readonly ca: string;
  readonly certificate: string;
  readonly key: string;
}

/** `http://ADDRESS:2379`, or an endpoint with TLS. */
export type EtcdEndpoint = string | SecureEndpoint;

export function urlOf(endpoint: EtcdEndpoint): string {
  return typeof endpoint === "string" ? endpoint : endpoint.url;
}

/**
 * etcd compares passwords slowly on purpose, on a busy machine for seconds. A client that gives up earlier
 * and tries again only adds to that work, because etcd goes on with what nobody waits for.
 */
const loginMsMax = 10_000;

/**
 * Whether a client has to log in again: its token has ended, the member has restarted and forgotten it, or
 * users were changed. etcd's own client logs in again for these answers too.
 */
export function isTokenOver(error: unknown): boolean {
  return error instanceof Error && /invalid auth token|revision of auth store is old/.test(error.message);
}

/**
 * Every call must be answered within `timeoutMs`. `token` is one that an earlier client of the cluster got.
 */
export function etcdClient(endpoint: EtcdEndpoint, timeoutMs = 1_500, token?: string): EtcdClient {
  const agent = agentFor(endpoint);
  const url = urlOf(endpoint);
  const call = (path: string, body: unknown): Promise<Json> => post(agent, `${url}${path}`, body, { timeoutMs, token });
  const read = async (range: Json): Promise<string | undefined> => {
    const { kvs } = (await call("/v3/kv/range", range)) as { kvs?: readonly Json[] };
    return kvs?.[0] === undefined ? undefined : plain(kvs[0]["value"]);
  };
  return {
    async logIn(name, password) {
      const options = { timeoutMs: Math.max(timeoutMs, loginMsMax), token: undefined };
      const answer = await post(agent, `${url}/v3/auth/authenticate`, { name, password }, options);
      token = String(answer["token"]);
      return token;
    },
    async put(key, value) {
      await call("/v3/kv/put", { key: base64(key), value: base64(value) });
    },
    async delete(key) {
      await call("/v3/kv/deleterange", { key: base64(key) });
    },
    get: (key) => read({ key: base64(key) }),
    getSerializable: (key) => read({ key: base64(key), serializable: true }),
    async keys(prefix) {
      const range = { key: base64(prefix), range_end: base64(prefixEnd(prefix)), keys_only: true };
      const { kvs = [] } = (await call("/v3/kv/range", range)) as { kvs?: readonly Json[] };
      return new Set(kvs.map((each) => plain(each["key"])));
    },
    async members() {
      const { members = [] } = (await call("/v3/cluster/member/list", {})) as { members?: readonly Json[] };
      return members.map((each) => ({
        id: hex(each["ID"]),
        name: String(each["name"] ?? ""),
        learner: each["isLearner"] === true,
      }));
    },
    async status() {
      const answer = await call("/v3/maintenance/status", {});
      const header = answer["header"] as Json;
      return {
        id: hex(header["member_id"]),
        leader: hex(answer["leader"]),
        version: String(answer["version"]),
        revision: Number(header["revision"]),
      };
    },
    async hash(revision) {
      // Not /v3/maintenance/hash: in 3.4 and 3.5 that path hashes the member's whole database as it is now,
      // so two members differ whenever a write lies between the questions. A serializable read is this
      // member's own data.
      const all = { key: everyKey, range_end: everyKey, revision: String(revision), serializable: true };
      const { kvs = [] } = await call("/v3/kv/range", all);
      return createHash("sha256").update(JSON.stringify(kvs)).digest("hex").slice(0, 16);
    },
    close: () => agent.destroy(),
  };
}

function agentFor(endpoint: EtcdEndpoint): PlainAgent {
  const options = { keepAlive: true, maxSockets: 4 };
  if (typeof endpoint === "string") return new PlainAgent(options);
  const { serverName, ca, certificate, key } = endpoint;
  return new SecureAgent({ ...options, servername: serverName, ca, cert: certificate, key });
}

interface PostOptions {
  readonly timeoutMs: number;
  readonly token: string | undefined;
}

function post(agent: PlainAgent, url: string, body: unknown, { timeoutMs, token }: PostOptions): Promise<Json> {
  return new Promise((resolve, reject) => {
    const options = {
      method: "POST",
      agent,
      signal: AbortSignal.timeout(timeoutMs),
      // Without accept, etcd takes the name in the member's own certificate for the user.
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(token === undefined ? {} : { authorization: token }),
      },
    };
    const sent = (agent instanceof SecureAgent ? requestSecure : requestPlain)(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        if (response.statusCode === 200) resolve(JSON.parse(text) as Json);
        else reject(new Error(`${url} answered ${response.statusCode}: ${text.slice(0, 200)}`));
      });
    });
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });
}
