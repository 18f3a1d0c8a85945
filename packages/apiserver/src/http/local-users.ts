/**
 * Which user of this host is at the other end of a connection. All of them come from addresses that any
 * program may take, and the kernel knows the user of each socket.
 */
import { readFile } from "node:fs/promises";
import type { Socket } from "node:net";

/** Linux's table of the sockets of this network namespace. */
const tableFile = "/proc/net/tcp";

type Ends = Pick<Socket, "remoteAddress" | "remotePort" | "localAddress" | "localPort">;

export class LocalUsers {
  readonly #file: string;
  #next: Promise<ReadonlyMap<string, string>> | undefined;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(file: string = tableFile) {
    this.#file = file;
  }

  /** The user's number; undefined when the kernel does not say. Calls at the same time share one reading. */
  async userOf({ remoteAddress, remotePort, localAddress, localPort }: Ends): Promise<string | undefined> {
    this.#next ??= this.#readNext();
    const table = await this.#next;
    return table.get(`${endOf(remoteAddress, remotePort)} ${endOf(localAddress, localPort)}`);
  }

  /** What is being read now may be from before the connection. */
  async #readNext(): Promise<ReadonlyMap<string, string>> {
    await this.#reading;
    this.#next = undefined;
    const table = this.#read();
    this.#reading = table;
    return table;
  }

  async #read(): Promise<ReadonlyMap<string, string>> {
    try {
      return parseTable(await readFile(this.#file, "latin1"));
    } catch {
      return new Map();
    }
  }
}

/** Local end and remote end of each socket, and its user. */
function parseTable(text: string): ReadonlyMap<string, string> {
  const users = new Map<string, string>();
  for (const line of text.split("\n").slice(1)) {
    const [, local, remote, , , , , user] = line.trim().split(/\s+/);
    if (user !== undefined) users.set(`${local} ${remote}`, user);
  }
  return users;
}

/** As the table has it: the bytes of the address in the order of this machine, and the port. */
function endOf(address = "", port = 0): string {
  const bytes = address
    .replace(/^::ffff:/, "")
    .split(".")
    .map(Number)
    .toReversed();
  const hex = bytes.map((each) => each.toString(16).padStart(2, "0")).join("");
  return `${hex}:${port.toString(16).padStart(4, "0")}`.toUpperCase();
}
