/** Messages of PostgreSQL's protocol: a letter, a length, a body. */
import type { Socket } from "node:net";

export interface ServerMessage {
  readonly type: string;
  readonly body: Buffer;
}

const headerLength = 5;

export function messageOf(type: string, body: string | Buffer): Buffer {
  const bytes = Buffer.from(body);
  const header = Buffer.alloc(headerLength);
  header.write(type);
  header.writeInt32BE(bytes.length + 4, 1);
  return Buffer.concat([header, bytes]);
}

/** The first message of a session, which has no letter. */
export function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(parameters).map(([name, value]) => `${name}\0${value}\0`);
  const body = Buffer.from(`${text.join("")}\0`);
  const header = Buffer.alloc(8);
  header.writeInt32BE(body.length + 8);
  header.writeInt32BE(3 << 16, 4);
  return Buffer.concat([header, body]);
}

/** Gives the messages of a server one after the other. */
export class MessageReader {
  readonly #socket: Socket;
  readonly #messages: ServerMessage[] = [];
  #rest: Buffer = Buffer.alloc(0);
  #waiting: (() => void) | undefined;
  #isOver = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (piece: Buffer) => this.#take(piece));
    socket.on("error", () => undefined);
    socket.once("close", () => {
      this.#isOver = true;
      this.#waiting?.();
    });
  }

  /** Rejects when the connection has ended, and when nothing came for that time. */
  async next(timeoutMs: number): Promise<ServerMessage> {
    if (this.#messages.length === 0 && !this.#isOver) await this.#change(timeoutMs);
    const message = this.#messages.shift();
    if (message === undefined) throw new Error("the session is over");
    return message;
  }

  async #change(timeoutMs: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#socket.destroy(), timeoutMs);
      this.#waiting = () => {
        clearTimeout(timer);
        this.#waiting = undefined;
        resolve();
      };
    });
  }

  #take(piece: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, piece]);
    while (this.#rest.length >= headerLength) {
      const end = 1 + this.#rest.readInt32BE(1);
      if (this.#rest.length < end) break;
      const type = this.#rest.toString("latin1", 0, 1);
      this.#messages.push({ type, body: this.#rest.subarray(headerLength, end) });
      this.#rest = this.#rest.subarray(end);
    }
    if (this.#messages.length > 0) this.#waiting?.();
  }
}
