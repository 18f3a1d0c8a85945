/**
 * The gateway over HTTP. Values are base64 and 64-bit numbers are decimal strings; IDs become hexadecimal at
 * once.
 */
import { request as requestPlain } from "node:http";
import { request as requestSecure, type RequestOptions } from "node:https";
import {
  type EtcdCredentials,
  EtcdError,
  type EtcdGateway,
  type MemberList,
  type MemberPosition,
  type MemberStatus,
} from "./etcd-gateway.ts";
import { parseMeasurements } from "./measurements.ts";

/** A healthy member answers in milliseconds; one that needs longer is of no use to a decision. */
const deadlineMs = 2_000;
/** Compaction and defragmentation take about ten seconds a gibibyte. */
const longMs = 300_000;
/** Status, membership and metrics are small; a larger answer is not etcd's. */
const answerBytesMax = 1 << 20;

/** Talks to etcd over the JSON gateway of its client port. */
export function httpGateway(credentials?: EtcdCredentials): EtcdGateway {
  const { call, read } = callsWith(credentials);
  return {
    withCredentials: httpGateway,
    async members(endpoint, signal) {
      // /health makes a linearizable read on this member; what it lists afterwards is at least as new. The list call's own
      // flag for that is unknown to 3.4.
      // Without space for more, etcd still agrees on everything but writes.
      const health = await call(endpoint, "/health?exclude=NOSPACE", undefined, signal);
      if (String(health["health"]) !== "true") throw new EtcdError(`${endpoint} cannot reach a quorum`);
      return parseMembers(await call(endpoint, "/v3/cluster/member/list", {}, signal));
    },
    async status(endpoint, signal) {
      return parseStatus(await call(endpoint, "/v3/maintenance/status", {}, signal));
    },
    async position(metricsEndpoint, signal) {
      return parsePosition(await read(metricsEndpoint, "/metrics", signal));
    },
    async measure(metricsEndpoint, signal) {
      return parseMeasurements(await read(metricsEndpoint, "/metrics", signal));
    },
    async compact(endpoint, revision, signal) {
      const body = { revision: String(revision), physical: true };
      await call(endpoint, "/v3/kv/compaction", body, signal, longMs).catch((error: unknown) => {
        if (!(error instanceof EtcdError) || !error.message.includes("has been compacted")) throw error;
      });
    },
    async defragment(endpoint, signal) {
      await call(endpoint, "/v3/maintenance/defragment", {}, signal, longMs);
    },
    async disarm(endpoint, signal) {
      const { alarms = [] } = await call(endpoint, "/v3/maintenance/alarm", { action: "GET" }, signal);
      // etcd takes no alarm back without the member that raised it.
      for (const { alarm, memberID } of alarms as readonly Json[])
        if (alarm === "NOSPACE")
          await call(endpoint, "/v3/maintenance/alarm", { action: "DEACTIVATE", memberID, alarm }, signal);
    },
    async addLearner(endpoint, peerUrl, signal) {
      await call(endpoint, "/v3/cluster/member/add", { peerURLs: [peerUrl], isLearner: true }, signal);
    },
    async promote(endpoint, memberId, signal) {
      await call(endpoint, "/v3/cluster/member/promote", { ID: decimal(memberId) }, signal);
    },
    async remove(endpoint, memberId, signal) {
      await call(endpoint, "/v3/cluster/member/remove", { ID: decimal(memberId) }, signal);
    },
    async moveLeader(endpoint, targetId, signal) {
      await call(endpoint, "/v3/maintenance/transfer-leadership", { targetID: decimal(targetId) }, signal);
    },
  };
}

function decimal(hexadecimal: string): string {
  return BigInt(`0x${hexadecimal}`).toString();
}

function hexadecimal(value: unknown): string {
  return typeof value === "string" && value !== "0" && value !== "" ? BigInt(value).toString(16) : "";
}

type Json = Readonly<Record<string, unknown>>;

function parseMembers(answer: Json): MemberList {
  const header = (answer["header"] ?? {}) as Json;
  const members = (answer["members"] ?? []) as readonly Json[];
  return {
    clusterId: hexadecimal(header["cluster_id"]),
    members: members.map((member) => ({
      id: hexadecimal(member["ID"]),
      name: String(member["name"] ?? ""),
      peerUrls: (member["peerURLs"] ?? []) as readonly string[],
      learner: member["isLearner"] === true,
    })),
  };
}

function parseStatus(answer: Json): MemberStatus {
  const header = (answer["header"] ?? {}) as Json;
  return {
    memberId: hexadecimal(header["member_id"]),
    clusterId: hexadecimal(header["cluster_id"]),
    version: String(answer["version"] ?? ""),
    leaderId: hexadecimal(answer["leader"]),
    learner: answer["isLearner"] === true,
    raftIndex: Number(answer["raftIndex"] ?? 0),
    revision: Number(header["revision"] ?? 0),
    dbSize: Number(answer["dbSize"] ?? 0),
    dbSizeInUse: Number(answer["dbSizeInUse"] ?? 0),
    errors: (answer["errors"] ?? []) as readonly string[],
  };
}

/** The numbers that a member reports of its log; the metrics of 3.4 and 3.5 have the same names. */
function parsePosition(metrics: string): MemberPosition {
  const value = (name: string): number | undefined => {
    const found = new RegExp(`^${name} (\\S+)$`, "m").exec(metrics)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const applied = value("etcd_server_proposals_applied_total");
  const revision = value("etcd_debugging_mvcc_current_revision");
  if (applied === undefined || revision === undefined)
    throw new EtcdError("the metrics say neither what was applied nor the revision");
  return { raftIndex: Math.max(applied, value("etcd_server_proposals_committed_total") ?? 0), revision };
}

interface Calls {
  readonly call: (
    endpoint: string,
    path: string,
    body: unknown,
    signal: AbortSignal,
    withinMs?: number,
  ) => Promise<Json>;
  readonly read: (endpoint: string, path: string, signal: AbortSignal) => Promise<string>;
}

function callsWith(credentials: EtcdCredentials | undefined): Calls {
  const within = (signal: AbortSignal, ms: number): ExchangeOptions => ({
    signal: AbortSignal.any([signal, AbortSignal.timeout(ms)]),
    credentials,
  });
  return {
    call: async (endpoint, path, body, signal, withinMs = deadlineMs) =>
      parseAnswer(`${endpoint}${path}`, await exchange(endpoint, path, body, within(signal, withinMs))),
    async read(endpoint, path, signal) {
      const { text, code } = await exchange(endpoint, path, undefined, within(signal, deadlineMs));
      if (code !== 200) throw new EtcdError(`${endpoint}${path} answered ${code}`);
      return text;
    },
  };
}

function parseAnswer(url: string, { text, code }: Answer): Json {
  const answer = parseJson(text);
  if (answer === undefined) throw new EtcdError(`${url} answered ${code} with no JSON`);
  if (code === 200) return answer;
  throw new EtcdError(String(answer["message"] ?? answer["error"] ?? text));
}

function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

interface Answer {
  readonly text: string;
  readonly code: number | undefined;
}

interface ExchangeOptions {
  readonly signal: AbortSignal;
  readonly credentials: EtcdCredentials | undefined;
}

function securityOf(credentials: EtcdCredentials | undefined): RequestOptions {
  if (credentials === undefined) return {};
  const { ca, certificate, key, serverName } = credentials;
  return { ca, cert: certificate, key, servername: serverName };
}

function exchange(
  endpoint: string,
  path: string,
  body: unknown,
  { signal, credentials }: ExchangeOptions,
): Promise<Answer> {
  const isSecure = endpoint.startsWith("https:");
  const request = isSecure ? requestSecure : requestPlain;
  const payload = body === undefined ? "" : JSON.stringify(body);
  const method = body === undefined ? "GET" : "POST";
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(payload) };
    const security = isSecure ? securityOf(credentials) : {};
    const sent = request(`${endpoint}${path}`, { method, headers, signal, ...security }, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
        if (text.length > answerBytesMax)
          sent.destroy(new Error(`The answer of ${endpoint} is larger than ${answerBytesMax} bytes`));
      });
      response.on("error", reject);
      response.on("end", () => resolve({ text, code: response.statusCode }));
    });
    sent.on("error", reject);
    sent.end(payload);
  });
}
