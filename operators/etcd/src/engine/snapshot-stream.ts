/**
 * A snapshot as etcd's JSON gateway streams it: one JSON object a line,
 * `{"result": {"remaining_bytes": "…", "blob": "base64"}}`, or `{"error": …}`. The joined blobs are the
 * database file, then its SHA-256.
 */
import type { Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { InvalidSnapshotError, TransferError } from "@setpoint/data-service/agent";
import { unreachable } from "./etcd-connection.ts";

/** etcd sends 32 KiB a message; anything this long is not etcd's. */
const lineLengthMax = 8 << 20;

/** The bytes of the snapshot. Ends normally only after the last message that etcd announced. */
export async function* snapshotBytes(answer: Readable, endpoint: string): AsyncGenerator<Uint8Array> {
  let remaining: string | undefined;
  for await (const line of linesOf(answer, endpoint)) {
    const { result, error } = parseLine(line);
    if (error !== undefined)
      throw new TransferError("SourceUnreachable", `etcd at ${endpoint} broke the snapshot off: ${messageOf(error)}`);
    if (result === undefined) throw new InvalidSnapshotError("a message without a result");
    remaining = result.remaining_bytes ?? "0";
    if (result.blob !== undefined) yield Buffer.from(result.blob, "base64");
  }
  if (remaining !== "0")
    throw new TransferError(
      "SourceUnreachable",
      `The snapshot of etcd at ${endpoint} ended with ${remaining ?? "all"} bytes missing.`,
    );
}

interface Message {
  readonly result?: { readonly remaining_bytes?: string; readonly blob?: string };
  readonly error?: unknown;
}

function parseLine(line: string): Message {
  try {
    return JSON.parse(line) as Message;
  } catch {
    throw new InvalidSnapshotError("a message that is not JSON");
  }
}

function messageOf(error: unknown): string {
  const { message } = (error ?? {}) as { message?: unknown };
  return typeof message === "string" ? message.slice(0, 200) : "without a reason";
}

/** The lines of a body, as they arrive. */
export async function* linesOf(answer: Readable, endpoint: string): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  try {
    for await (const piece of answer) {
      const lines = (rest + decoder.write(piece as Buffer)).split("\n");
      rest = lines.pop() ?? "";
      if (rest.length > lineLengthMax) throw new InvalidSnapshotError(`a message of more than ${lineLengthMax} bytes`);
      yield* lines.filter((line) => line !== "");
    }
  } catch (cause) {
    if (cause instanceof InvalidSnapshotError || cause instanceof TransferError) throw cause;
    throw unreachable(endpoint, cause);
  }
  if (rest !== "") yield rest;
}
