/** PostgreSQL's half in transfer pods: a base backup by an instance manager, and what makes one whole. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import {
  type AgentEnvironment,
  cancelledError,
  type EngineAgent,
  type Snapshot,
  type SnapshotFacts,
  TransferError,
} from "@setpoint/data-service/agent";
import { baseBackupPath, endedAtTrailer } from "../instance/manager-paths.ts";
import { managerPort } from "../kind/names.ts";
import { BaseBackupCheck } from "./base-backup-check.ts";
import { postgresLog } from "./postgres-log.ts";
import { postgresSource } from "./postgres-source.ts";

/** The half of PostgreSQL's engine that runs in transfer pods. */
export const postgresAgent: EngineAgent = {
  log: postgresLog,

  async snapshot(environment: AgentEnvironment): Promise<Snapshot> {
    const response = await firstToAnswer(environment);
    const facts = Promise.withResolvers<SnapshotFacts>();
    return { data: checked(response, facts), facts: facts.promise };
  },

  async verify(data, signal) {
    const check = new BaseBackupCheck();
    for await (const piece of data) {
      if (signal.aborted) throw cancelledError();
      check.push(piece);
    }
    const { bytes, end } = check.finish();
    return { dataBytes: bytes, position: end };
  },
};

/** Passes the bytes on, and knows what they are when the last one has passed. */
async function* checked(
  response: IncomingMessage,
  facts: PromiseWithResolvers<SnapshotFacts>,
): AsyncGenerator<Uint8Array> {
  const check = new BaseBackupCheck();
  try {
    for await (const piece of response as AsyncIterable<Buffer>) {
      check.push(piece);
      yield piece;
    }
    const { version, timeline, start, end } = check.finish();
    const endedAtMs = Number(response.trailers[endedAtTrailer]);
    const log = Number.isSafeInteger(endedAtMs) ? { timeline, start, endedAtMs } : undefined;
    facts.resolve({ engineVersion: version, position: end, log });
  } catch (error) {
    facts.reject(error);
    throw error;
  }
}

async function firstToAnswer({ source, secretFolder = "", signal }: AgentEnvironment): Promise<IncomingMessage> {
  const parsed = postgresSource.safeParse(source);
  if (!parsed.success) throw new TransferError("RequestInvalid", "The request names no instances in source.hosts.");
  const { hosts, serverName } = parsed.data;
  const read = (file: string): string => readFileSync(join(secretFolder, file), "utf8");
  const credentials = { ca: read("ca.crt"), cert: read("tls.crt"), key: read("tls.key"), servername: serverName };
  const failures: string[] = [];
  for (const host of hosts) {
    const answer = await ask(host, credentials, signal);
    if (typeof answer !== "string") return answer;
    if (signal.aborted) throw cancelledError();
    failures.push(`${host}: ${answer}`);
  }
  throw new TransferError("SourceUnreachable", `No instance gives a base backup: ${failures.join("; ")}.`);
}

/** The stream of a base backup, or why this instance gives none. */
async function ask(host: string, credentials: object, signal: AbortSignal): Promise<IncomingMessage | string> {
  const sent = request(`https://${host}:${managerPort}${baseBackupPath}`, { ...credentials, signal, agent: false });
  sent.end();
  try {
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    if (response.statusCode === 200) return response;
    return `${response.statusCode} ${(await text(response)).slice(0, 300)}`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
