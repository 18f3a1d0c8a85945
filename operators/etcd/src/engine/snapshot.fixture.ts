/** A database file as bbolt lays it out, and a member that serves it by the JSON gateway. */
import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { fnv1a } from "./snapshot-check.ts";

const pageBytes = 4_096;

/** A snapshot of `pages` pages whose root is the page `root`. */
export function snapshotOf(pages: number, root = 3): Buffer {
  const database = Buffer.alloc(pages * pageBytes);
  for (let page = 0; page < pages; page++) {
    database.writeBigUInt64LE(BigInt(page), page * pageBytes);
    database.writeUInt16LE(page < 2 ? 4 : 2, page * pageBytes + 8);
    database.fill(page % 251, page * pageBytes + 64, (page + 1) * pageBytes);
  }
  for (const page of [0, 1]) writeMeta(database.subarray(page * pageBytes), root, pages, 7 + page);
  return withChecksum(database);
}

export function withChecksum(database: Buffer): Buffer {
  return Buffer.concat([database, createHash("sha256").update(database).digest()]);
}

function writeMeta(page: Buffer, root: number, pages: number, transaction: number): void {
  const meta = page.subarray(16);
  meta.writeUInt32LE(0xed_0c_da_ed, 0);
  meta.writeUInt32LE(2, 4);
  meta.writeUInt32LE(pageBytes, 8);
  meta.writeBigUInt64LE(BigInt(root), 16);
  meta.writeBigUInt64LE(BigInt(pages), 40);
  meta.writeBigUInt64LE(BigInt(transaction), 48);
  meta.writeBigUInt64LE(fnv1a(meta.subarray(0, 56)), 56);
}

export interface MemberBehaviour {
  readonly snapshot?: Buffer;
  readonly isLeader?: boolean;
  readonly revision?: string;
  /** How the stream of the snapshot ends early, after its first message. */
  readonly ending?: "reset" | "silentEnd" | "error";
  /** The answer to everything. */
  readonly refusal?: { readonly status: number; readonly message: string };
  readonly login?: { readonly name: string; readonly password: string };
}

export interface Member extends AsyncDisposable {
  readonly endpoint: string;
  readonly snapshots: () => number;
}

/** Starts a member on loopback. */
export async function startMember(behaviour: MemberBehaviour): Promise<Member> {
  let snapshots = 0;
  const server = createServer((request, response) => {
    const { refusal, login } = behaviour;
    const answer = (status: number, body: object): void =>
      void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (refusal !== undefined) return answer(refusal.status, { message: refusal.message });
    if (request.url === "/v3/auth/authenticate") return answer(200, { token: "token-of-member" });
    if (login !== undefined && request.headers.authorization !== "token-of-member")
      return answer(401, { message: "etcdserver: invalid auth token" });
    if (request.url === "/v3/maintenance/status") {
      const header = { member_id: "1", revision: behaviour.revision ?? "5" };
      return answer(200, { header, version: "3.5.16", leader: behaviour.isLeader === true ? "1" : "2" });
    }
    snapshots++;
    return sendSnapshot(response, behaviour);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    snapshots: () => snapshots,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function sendSnapshot(response: ServerResponse, { snapshot = snapshotOf(40), ending }: MemberBehaviour): void {
  response.writeHead(200);
  const pieceBytes = 32_768;
  for (let at = 0; at < snapshot.length; at += pieceBytes) {
    const blob = snapshot.subarray(at, at + pieceBytes);
    const remaining = snapshot.length - at - blob.length;
    const result = {
      blob: blob.toString("base64"),
      ...(remaining === 0 ? {} : { remaining_bytes: String(remaining) }),
    };
    response.write(`${JSON.stringify({ result })}\n`);
    if (ending === "silentEnd") return void response.end();
    if (ending === "error")
      return void response.end(`${JSON.stringify({ error: { message: "etcdserver: corrupt" } })}\n`);
    if (ending === "reset") return void response.write("{", () => response.destroy());
  }
  response.end();
}
