/** The half of the engine that runs in transfer pods. A snapshot is one line of JSON: a revision and keys. */
import { get } from "node:http";
import type { IncomingMessage } from "node:http";
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
    const text = await textOf(data);
    return { dataBytes: Buffer.byteLength(text), position: String(parsed(text).revision) };
  },
};

/** The test engine's data are small; an engine for real data reads its facts from the stream. */
async function* passing(
  response: IncomingMessage,
  facts: PromiseWithResolvers<{ engineVersion: string; position: string }>,
): AsyncGenerator<Uint8Array> {
  try {
    const text = await textOf(response);
    const { version, revision } = parsed(text);
    yield Buffer.from(text);
    facts.resolve({ engineVersion: version, position: String(revision) });
  } catch (error) {
    facts.reject(error);
    throw error;
  }
}

function request(url: string, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => void get(url, { signal }, resolve).on("error", reject));
}

async function textOf(data: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of data) parts.push(part);
  return Buffer.concat(parts).toString();
}

function parsed(text: string): z.infer<typeof snapshot> {
  try {
    return snapshot.parse(JSON.parse(text));
  } catch (cause) {
    throw new InvalidSnapshotError("the snapshot is not one line of JSON with version, revision and keys", { cause });
  }
}
