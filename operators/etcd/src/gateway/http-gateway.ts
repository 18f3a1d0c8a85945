/**
 * The gateway over HTTP. Values are base64 and 64-bit numbers are decimal strings; IDs become hexadecimal at
 * once.
 */
import {
  type EtcdCredentials,
  EtcdError,
  type EtcdGateway,
  type MemberList,
  type MemberPosition,
  type MemberStatus,
} from "./etcd-gateway.ts";
import { parseMeasurements } from "./measurements.ts";
import { httpCalls, type Json } from "./http-calls.ts";
import { httpUsers } from "./http-users.ts";
import { Tokens } from "./tokens.ts";

/** Compaction and defragmentation take about ten seconds a gibibyte. */
const longMs = 300_000;

/** Talks to etcd over the JSON gateway of its client port. */
export function httpGateway(credentials: EtcdCredentials = {}): EtcdGateway {
  return gatewayWith(credentials, new Tokens());
}

function gatewayWith(credentials: EtcdCredentials, tokens: Tokens): EtcdGateway {
  const calls = httpCalls(credentials, tokens);
  const { call, read } = calls;
  return {
    ...httpUsers(credentials, calls),
    withCredentials: (others) => gatewayWith(others, tokens),
    async members(endpoint, signal) {
      // /health makes a linearizable read on this member; what it lists afterwards is at least as new. The
      // list call's own flag for that is unknown to 3.4. Without space for more, etcd still agrees on
      // everything but writes.
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
    async readKey(endpoint, key, signal) {
      const { kvs = [] } = await call(endpoint, "/v3/kv/range", { key: base64(key) }, signal);
      const [found] = kvs as readonly Json[];
      return found === undefined ? undefined : Buffer.from(String(found["value"] ?? ""), "base64").toString("utf8");
    },
    async deleteKey(endpoint, key, signal) {
      await call(endpoint, "/v3/kv/deleterange", { key: base64(key) }, signal);
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

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

function decimal(hexadecimal: string): string {
  return BigInt(`0x${hexadecimal}`).toString();
}

function hexadecimal(value: unknown): string {
  return typeof value === "string" && value !== "0" && value !== "" ? BigInt(value).toString(16) : "";
}

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
