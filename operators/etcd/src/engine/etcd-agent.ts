/** etcd's half in transfer pods: snapshots by the JSON gateway of a member, and what makes one whole. */
import {
  type AgentEnvironment,
  cancelledError,
  type EngineAgent,
  InvalidSnapshotError,
  isTransferError,
  type Snapshot,
  type SnapshotFacts,
  TransferError,
} from "@setpoint/data-service/agent";
import { type EtcdCredentials, EtcdConnection, readCredentials } from "./etcd-connection.ts";
import { etcdSource } from "./etcd-source.ts";
import { SnapshotCheck } from "./snapshot-check.ts";
import { snapshotBytes } from "./snapshot-stream.ts";

interface Candidate {
  readonly connection: EtcdConnection;
  readonly facts: SnapshotFacts;
  readonly isLeader: boolean;
}

/** The half of etcd's engine that runs in transfer pods. */
export const etcdAgent: EngineAgent = {
  async snapshot({ source, secretFolder, signal }: AgentEnvironment): Promise<Snapshot> {
    const candidates = await reachable(endpointsOf(source), readCredentials(secretFolder), signal);
    return firstToAnswer(candidates, signal);
  },

  async verify(data, signal) {
    const check = new SnapshotCheck();
    for await (const piece of data) {
      if (signal.aborted) throw cancelledError();
      check.update(piece);
    }
    check.finish();
    return { dataBytes: check.bytes };
  },
};

/** The client URLs in a source; throws when there are none. */
export function endpointsOf(source: unknown): readonly string[] {
  const parsed = etcdSource.safeParse(source);
  if (parsed.success) return parsed.data.endpoints;
  throw new TransferError("RequestInvalid", "The request names no client URLs of etcd members in source.endpoints.");
}

/**
 * Members that answer, followers first and of these the furthest: a snapshot costs a member time, and the
 * leader has the least of it.
 */
async function reachable(
  endpoints: readonly string[],
  credentials: EtcdCredentials,
  signal: AbortSignal,
): Promise<readonly Candidate[]> {
  const asked = await Promise.allSettled(endpoints.map((endpoint) => candidateAt(endpoint, credentials, signal)));
  if (signal.aborted) throw cancelledError();
  const candidates = asked.flatMap((answer) => (answer.status === "fulfilled" ? [answer.value] : []));
  if (candidates.length === 0)
    throw noneAnswers(
      noSnapshot,
      asked.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : [])),
    );
  return candidates.toSorted(
    (a, b) => Number(a.isLeader) - Number(b.isLeader) || Number(b.facts.position) - Number(a.facts.position),
  );
}

async function candidateAt(endpoint: string, credentials: EtcdCredentials, signal: AbortSignal): Promise<Candidate> {
  const connection = new EtcdConnection(endpoint, credentials, signal);
  await connection.open();
  const status = await connection.call("/v3/maintenance/status", {});
  const header = (status["header"] ?? {}) as Readonly<Record<string, unknown>>;
  if (status["isLearner"] === true) throw new TransferError("SourceUnreachable", `etcd at ${endpoint} is a learner.`);
  return {
    connection,
    isLeader: status["leader"] === header["member_id"],
    // The snapshot is taken after this answer, from this member's own store, so it reaches at least up to
    // this revision.
    facts: { engineVersion: String(status["version"] ?? ""), position: String(header["revision"] ?? "0") },
  };
}

const noSnapshot = "No member of etcd can give a snapshot.";

/** Refused when every member refuses: another member, or another time, may still answer the rest. */
export function noneAnswers(sentence: string, reasons: readonly unknown[]): TransferError {
  const texts = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason)));
  const isRefused = reasons.length > 0 && reasons.every((reason) => isTransferError(reason, "SourceRefused"));
  return new TransferError(isRefused ? "SourceRefused" : "SourceUnreachable", `${sentence} ${texts.join(" ")}`);
}

/**
 * A member that fails before its first byte is passed over; later the backup starts over, because bytes of
 * two members do not fit together.
 */
async function firstToAnswer(candidates: readonly Candidate[], signal: AbortSignal): Promise<Snapshot> {
  const failures: unknown[] = [];
  for (const { connection, facts } of candidates) {
    try {
      const answer = await connection.stream("/v3/maintenance/snapshot", {});
      const bytes = snapshotBytes(answer, connection.endpoint);
      const first = await bytes.next();
      if (first.done === true) throw new InvalidSnapshotError("it is empty");
      return checkedSnapshot(first.value, bytes, facts);
    } catch (error) {
      if (signal.aborted) throw cancelledError();
      failures.push(error);
    }
  }
  throw noneAnswers(noSnapshot, failures);
}

/** The facts count only when the stream has passed the same check as a stored backup. */
function checkedSnapshot(first: Uint8Array, rest: AsyncGenerator<Uint8Array>, facts: SnapshotFacts): Snapshot {
  const checked = Promise.withResolvers<SnapshotFacts>();
  checked.promise.catch(() => {});
  async function* data(): AsyncGenerator<Uint8Array> {
    const check = new SnapshotCheck();
    try {
      check.update(first);
      yield first;
      for await (const piece of rest) {
        check.update(piece);
        yield piece;
      }
      check.finish();
      checked.resolve(facts);
    } catch (error) {
      checked.reject(error);
      throw error;
    } finally {
      checked.reject(new InvalidSnapshotError("it was not read to its end"));
    }
  }
  return { data: data(), facts: checked.promise };
}
