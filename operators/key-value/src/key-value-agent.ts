/** The half of the engine that runs in transfer pods. A snapshot is one line of JSON: a revision and keys. */
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { type EngineAgent, InvalidSnapshotError } from "@setpoint/data-service/agent";
import { z } from "zod";

const snapshot = z.object({ version: z.string(), revision: z.int(), keys: z.record(z.string(), z.string()) });
const source = z.object({ url: z.url() });

/** The agent half of the engine "key-value". */
export const keyValueAgent: EngineAgent = {
  async snapshot(environment) {
    const response = await request(source.parse(environment.source).url, environment.signal);
    const facts = Promise.withResolvers<{ engineVersion: string; position: string }>();
    return { data: passing(response, facts), facts: facts.promise };
  },
  async verify(data) {
    const line = await text(data);
    return { dataBytes: Buffer.byteLength(line), position: String(parsed(line).revision) };
  },
};

/** The test engine's data are small; an engine for real data reads its facts from the stream. */
async function* passing(
  response: IncomingMessage,
  facts: PromiseWithResolvers<{ engineVersion: string; position: string }>,
): AsyncGenerator<Uint8Array> {
  try {
    const line = await text(response);
    const { version, revision } = parsed(line);
    yield Buffer.from(line);
    facts.resolve({ engineVersion: version, position: String(revision) });
  } catch (error) {
    facts.reject(error);
    throw error;
  }
}

function request(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void get(url, { signal }, resolve).on("error", reject));
}

function parsed(line: string): z.infer<typeof snapshot> {
  try {
    return snapshot.parse(JSON.parse(line));
  } catch (cause) {
    throw new InvalidSnapshotError("the snapshot is not one line of JSON with version, revision and keys", { cause });
  }
}
