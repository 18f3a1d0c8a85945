/** The half of the engine that runs in transfer pods. A snapshot is the data of the primary as JSON. */
import { text } from "node:stream/consumers";
import type { EngineAgent, SnapshotFacts } from "@setpoint/data-service/agent";
import { z } from "zod";
import { getText } from "./server/http-request.ts";
import { appendLogSegments, type LogData, parseLogData } from "./server/log-data.ts";

const source = z.object({ url: z.url() });

/** The agent half of the engine "append-log". */
export const appendLogAgent: EngineAgent = {
  log: appendLogSegments,
  async snapshot(environment) {
    const copy = await getText(`${source.parse(environment.source).url}/snapshot`, environment.signal);
    return { data: once(copy), facts: Promise.resolve(snapshotFacts(parseLogData(copy))) };
  },
  async verify(data) {
    const copy = await text(data);
    return { dataBytes: Buffer.byteLength(copy), position: snapshotFacts(parseLogData(copy)).position };
  },
};

async function* once(copy: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(copy);
}

/** A copy is taken at one moment, so the log goes on at its position. */
export function snapshotFacts({ timeline, entries }: LogData): SnapshotFacts {
  const position = String(entries.length);
  const log = { timeline, start: position, endedAtMs: entries.at(-1)?.atMs ?? 0 };
  return { engineVersion: "1.0.0", position, log };
}
