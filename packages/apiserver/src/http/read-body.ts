/** Reads a request's body up to the limit of upstream, within a deadline. */
import type { Readable } from "node:stream";
import { ApiError, failure } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import { tooLarge } from "../request/body-bounds.ts";

/** Upstream's limit for every request; etcd could not store much more. */
export const requestBytesMax: number = 3 * 1024 * 1024;
/** How long a body may take: a line of 2 Mbit/s carries the largest one. */
export const bodyMsMax = 20_000;

export interface BodyLimits {
  readonly clock: Clock;
  /** The length that the client declares; absent when it declares none. */
  readonly contentLength: string | undefined;
  /** Called with the bytes before they are kept; throws when there is no room for them. */
  readonly take: (bytes: number) => void;
}

/**
 * All bytes, undefined when there are none.
 *
 * Errors: `ApiError` 413 beyond the limit, 408 after the deadline, what `take` throws; an Error when the
 * client goes away. What comes after an error is left to the caller.
 */
export function readBody(input: Readable, { clock, contentLength, take }: BodyLimits): Promise<Buffer | undefined> {
  if (Number(contentLength ?? 0) > requestBytesMax) return Promise.reject(tooManyBytes());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const settle = (): void => {
      late.cancel();
      input.off("data", onData).off("end", onEnd).off("close", onClose);
    };
    const fail = (error: unknown): void => {
      settle();
      reject(error);
    };
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length > requestBytesMax) return fail(tooManyBytes());
      try {
        take(chunk.length);
      } catch (error) {
        return fail(error);
      }
      chunks.push(chunk);
    };
    const onEnd = (): void => {
      settle();
      resolve(length === 0 ? undefined : chunks.length === 1 ? chunks[0] : Buffer.concat(chunks));
    };
    // Every stream closes; an error, with its stack, is only made when the body is still waited for.
    const onClose = (): void => fail(new Error("the client closed the connection"));
    const late = clock.setTimer(() => fail(tooSlow()), bodyMsMax);
    input.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

function tooManyBytes(): ApiError {
  return tooLarge(`limit is ${requestBytesMax}`);
}

function tooSlow(): ApiError {
  const message = `Timeout: the body of the request did not arrive within ${bodyMsMax / 1_000} s`;
  return new ApiError(failure(408, "Timeout", message));
}
