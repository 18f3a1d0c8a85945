/**
 * One session with a server of PostgreSQL over TLS, with a deadline for each answer. psql would be a process
 * for each client, and shows neither error codes nor how far a commit went.
 */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { MessageReader, messageOf, startupMessage } from "./postgres-messages.ts";

export interface SessionOptions {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** For the login, and for the answer to each query. */
  readonly timeoutMs: number;
}

export interface Answer {
  /** `COMMIT`, `INSERT 0 1`. */
  readonly tags: readonly string[];
  /** Of all statements. */
  readonly rows: readonly (readonly string[])[];
}

/** What the server complains about; the session goes on. */
export class StatementError extends Error {
  override readonly name = "StatementError";
  /** `40001` for a serialization failure. */
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);
const connectMsMax = 1_500;

export class PostgresSession implements Disposable {
  readonly #socket: TLSSocket;
  readonly #reader: MessageReader;
  readonly #timeoutMs: number;

  private constructor(socket: TLSSocket, timeoutMs: number) {
    this.#socket = socket;
    this.#timeoutMs = timeoutMs;
    this.#reader = new MessageReader(socket);
  }

  static async open(options: SessionOptions): Promise<PostgresSession> {
    const socket = await secureSocket(options);
    const session = new PostgresSession(socket, options.timeoutMs);
    try {
      await session.#logIn(options);
      return session;
    } catch (error) {
      session[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Runs statements, one after the other. Errors: `StatementError`; any other means that the session is over
   * and that the statements may have been run.
   */
  async query(statements: string): Promise<Answer> {
    this.#socket.write(messageOf("Q", `${statements}\0`));
    const tags: string[] = [];
    const rows: (readonly string[])[] = [];
    let problem: StatementError | undefined;
    for (;;) {
      const { type, body } = await this.#reader.next(this.#timeoutMs);
      if (type === "C") tags.push(body.toString("utf8", 0, body.length - 1));
      else if (type === "D") rows.push(columnsOf(body));
      else if (type === "E") problem = errorOf(body);
      else if (type === "Z") break;
    }
    if (problem !== undefined) throw problem;
    return { tags, rows };
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** By SCRAM-SHA-256 of RFC 7677, without a channel binding. */
  async #logIn({ user, password, database }: SessionOptions): Promise<void> {
    this.#socket.write(startupMessage({ user, database, application_name: "campaign" }));
    await this.#expect(10);
    const nonce = randomBytes(18).toString("base64");
    const first = `n=,r=${nonce}`;
    const length = Buffer.alloc(4);
    length.writeInt32BE(first.length + 3);
    this.#socket.write(
      messageOf("p", Buffer.concat([Buffer.from("SCRAM-SHA-256\0"), length, Buffer.from(`n,,${first}`)])),
    );
    const challenge = (await this.#expect(11)).toString("utf8");
    this.#socket.write(messageOf("p", proofOf(password, first, challenge)));
    await this.#expect(12);
    while ((await this.#take()).type !== "Z");
  }

  async #expect(step: number): Promise<Buffer> {
    const { type, body } = await this.#take();
    if (type !== "R" || body.readInt32BE(0) !== step) throw new Error(`Cannot log in: the server asks for "${type}"`);
    return body.subarray(4);
  }

  async #take(): Promise<{ readonly type: string; readonly body: Buffer }> {
    const message = await this.#reader.next(this.#timeoutMs);
    if (message.type === "E") throw errorOf(message.body);
    return message;
  }
}

/** As `sslmode=require` of the Secret asks for: encrypted, the server unknown. */
async function secureSocket({ host, port }: SessionOptions): Promise<TLSSocket> {
  const plain = connectTcp({ host, port, noDelay: true });
  try {
    await once(plain, "connect");
    plain.write(sslRequest);
    const [answer] = await once(plain, "data");
    if (answer?.toString() !== "S") throw new Error("the server refuses TLS");
    const secure = connectTls({ socket: plain, rejectUnauthorized: false });
    await once(secure, "secureConnect");
    return secure;
  } catch (error) {
    plain.destroy();
    throw error;
  }
}

/** Rejects when the socket ends before, and after a time: a server that is stopped still has its port. */
async function once(socket: Socket, event: string): Promise<readonly Buffer[]> {
  return new Promise((resolve, reject) => {
    const fail = (error?: Error): void => settle(() => reject(error ?? new Error("the connection ended")));
    const timer = setTimeout(() => fail(new Error(`no ${event} within ${connectMsMax} ms`)), connectMsMax);
    const done = (...parts: readonly Buffer[]): void => settle(() => resolve(parts));
    const settle = (end: () => void): void => {
      clearTimeout(timer);
      socket.off(event, done).off("close", fail);
      end();
    };
    // Later errors end the session by "close".
    socket.on("error", () => undefined);
    socket.once(event, done).once("close", () => fail());
  });
}

function proofOf(password: string, first: string, challenge: string): string {
  const [, nonce = "", salt = "", rounds = ""] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(challenge) ?? [];
  const salted = pbkdf2Sync(password, Buffer.from(salt, "base64"), Number(rounds), 32, "sha256");
  const key = hmac(salted, "Client Key");
  const last = `c=biws,r=${nonce}`;
  const signature = hmac(createHash("sha256").update(key).digest(), `${first},${challenge},${last}`);
  return `${last},p=${Buffer.from(key.map((byte, i) => byte ^ (signature[i] ?? 0))).toString("base64")}`;
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}

function columnsOf(body: Buffer): readonly string[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(0, length);
    return length < 0 ? "" : body.toString("utf8", at - length, at);
  });
}

function errorOf(body: Buffer): StatementError {
  const fields = new Map(
    body
      .toString("utf8")
      .split("\0")
      .map((field) => [field.slice(0, 1), field.slice(1)]),
  );
  return new StatementError(fields.get("C") ?? "", fields.get("M") ?? "no message");
}
