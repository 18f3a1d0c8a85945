import { pullRefusal } from "./pull-refusal.ts";

/** The bytes of an answer. */
export function bodyBytes(response: Response): AsyncIterable<Uint8Array> {
  return response.body ?? emptyBody();
}

/** A short answer in memory, `what` for the message when it is not short. */
export async function readBody(response: Response, bytesMax: number, what: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of bodyBytes(response)) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw pullRefusal(`expected at most ${bytesMax} bytes of a ${what}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* emptyBody(): AsyncIterable<Uint8Array> {}
