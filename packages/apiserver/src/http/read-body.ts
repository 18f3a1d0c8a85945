/** Reads a request's body up to the limit of upstream. */
import type { Readable } from "node:stream";
import type { ApiError } from "@setpoint/apimachinery";
import { checkJsonBounds, tooLarge } from "../request/body-bounds.ts";

/** Upstream's limit for every request; etcd could not store much more. */
export const requestBytesMax: number = 3 * 1024 * 1024;

/** All bytes, undefined when there are none. Rejects with a 413 beyond the limit and when the client goes away. */
export function readBody(input: Readable): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    let isWhole = false;
    input.on("data", (chunk: Buffer) => {
      length += chunk.length;
      // The rest is read and dropped, so that the client gets to see the answer.
      if (length > requestBytesMax) reject(tooManyBytes());
      else chunks.push(chunk);
    });
    input.on("end", () => {
      isWhole = true;
      resolve(length === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    });
    input.on("error", reject);
    // Every stream closes; an error, with its stack, is only made when the body is still waited for.
    input.on("close", () => {
      if (!isWhole) reject(new Error("the client closed the connection"));
    });
  });
}

function tooManyBytes(): ApiError {
  return tooLarge(`limit is ${requestBytesMax}`);
}

/** JSON is parsed here, once; anything else, broken JSON too, goes on as bytes for whoever knows the right words. */
export function decodeBody(bytes: Buffer | undefined, contentType: string | undefined): unknown {
  if (bytes === undefined || (contentType !== undefined && !isPlainJson(contentType))) return bytes;
  checkJsonBounds(bytes);
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    return bytes;
  }
}

function isPlainJson(contentType: string): boolean {
  if (contentType === "application/json" || contentType === "") return true;
  return contentType.startsWith("application/json") && /^application\/json\s*;/.test(contentType);
}
