/**
 * PgBouncer's admin console over its socket: PostgreSQL's protocol, as far as a command without parameters
 * needs it. Who has the user of the process gets in without a password.
 */
import { createConnection } from "node:net";
import { poolerPort } from "../../kind/names.ts";
import { poolerPaths } from "./pooler-files.ts";

const protocolVersion = 196_608;
const headerBytes = 5;

export type Row = Readonly<Record<string, string>>;

/** Resolves to the rows when the command is complete. PAUSE is complete when no server is in use. */
export function runCommand(command: string, signal: AbortSignal): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(`${poolerPaths.run}/.s.PGSQL.${poolerPort}`);
    const reader = new AnswerReader();
    const end = (settle: () => void): void => {
      signal.removeEventListener("abort", abort);
      socket.destroy();
      settle();
    };
    const abort = (): void => end(() => reject(new Error(`PgBouncer gave no answer to ${command}`)));
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    socket.on("connect", () => socket.write(startup()));
    socket.on("error", (error) => end(() => reject(error)));
    socket.on("close", () => end(() => reject(new Error(`PgBouncer closed the connection at ${command}`))));
    socket.on("data", (piece: Buffer) => {
      for (const event of reader.push(piece)) {
        if (event === "ready" && reader.isStarted) socket.write(query(command));
        else if (event === "ready") end(() => resolve(reader.rows));
        else end(() => reject(new Error(`${command}: ${event.error}`)));
      }
    });
  });
}

function startup(): Buffer {
  const body = Buffer.from("user\0pgbouncer\0database\0pgbouncer\0\0");
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(protocolVersion, 4);
  return Buffer.concat([head, body]);
}

function query(command: string): Buffer {
  const body = Buffer.from(`${command}\0`);
  const head = Buffer.alloc(headerBytes);
  head.write("Q");
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

/** Reads the messages of one session. */
export class AnswerReader {
  readonly rows: Row[] = [];
  #columns: readonly string[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #readyCount = 0;

  /** Whether the server is ready for the first time: the command has not been sent yet. */
  get isStarted(): boolean {
    return this.#readyCount === 1;
  }

  push(piece: Buffer): readonly ("ready" | { readonly error: string })[] {
    this.#rest = Buffer.concat([this.#rest, piece]);
    const events: ("ready" | { readonly error: string })[] = [];
    while (this.#rest.length >= headerBytes) {
      const end = 1 + this.#rest.readInt32BE(1);
      if (this.#rest.length < end) break;
      const event = this.#take(String.fromCharCode(this.#rest[0] ?? 0), this.#rest.subarray(headerBytes, end));
      this.#rest = this.#rest.subarray(end);
      if (event !== undefined) events.push(event);
    }
    return events;
  }

  #take(kind: string, body: Buffer): "ready" | { readonly error: string } | undefined {
    if (kind === "Z") {
      this.#readyCount++;
      return "ready";
    }
    if (kind === "E") return { error: errorIn(body) };
    // Anything but 0 asks for a password, which the user of the process does not need.
    if (kind === "R" && body.readInt32BE(0) !== 0) return { error: "the console asks for a password" };
    if (kind === "T") this.#columns = columnsIn(body);
    if (kind === "D") this.rows.push(rowIn(body, this.#columns));
    return undefined;
  }
}

/** Each field is a letter and a text; M is the message. */
function errorIn(body: Buffer): string {
  const fields = body.toString("utf8").split("\0");
  return fields.find((field) => field.startsWith("M"))?.slice(1) ?? "an error without a message";
}

/** After each name, 18 bytes describe its type. */
function columnsIn(body: Buffer): readonly string[] {
  const names: string[] = [];
  let at = 2;
  for (let count = body.readInt16BE(0); count > 0; count--) {
    const end = body.indexOf(0, at);
    names.push(body.toString("utf8", at, end));
    at = end + 1 + 18;
  }
  return names;
}

function rowIn(body: Buffer, columns: readonly string[]): Row {
  const row: Record<string, string> = {};
  let at = 2;
  for (const column of columns) {
    const length = body.readInt32BE(at);
    at += 4;
    if (length < 0) continue;
    row[column] = body.toString("utf8", at, at + length);
    at += length;
  }
  return row;
}
