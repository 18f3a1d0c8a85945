import { expect, test } from "vitest";
import { snapshotOf, withChecksum } from "./snapshot.fixture.ts";
import { etcdAgent } from "./etcd-agent.ts";

const { signal } = new AbortController();

async function verify(snapshot: Buffer, pieceBytes = 1_000): Promise<string> {
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < snapshot.length; at += pieceBytes) yield snapshot.subarray(at, at + pieceBytes);
  }
  try {
    const { dataBytes } = await etcdAgent.verify(pieces(), signal);
    return `${dataBytes} bytes`;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : "unknown";
  }
}

/** As etcd would have sent it after the change: the checksum holds. */
function changed(change: (database: Buffer) => void, pages = 40): Buffer {
  const database = Buffer.from(snapshotOf(pages).subarray(0, -32));
  change(database);
  return withChecksum(database);
}

test.each([
  [4, 3],
  [40, 3],
  [40, 15],
  [40, 16],
  [40, 17],
  [40, 39],
])("a snapshot of %i pages with its root at %i is whole", async (pages, root) => {
  const snapshot = snapshotOf(pages, root);
  for (const pieceBytes of [7, 1_000, 32_768, 1 << 20])
    expect(await verify(snapshot, pieceBytes)).toBe(`${snapshot.length} bytes`);
});

test("a changed byte is found anywhere", async () => {
  const snapshot = snapshotOf(20);
  for (let at = 0; at < snapshot.length; at += 499) {
    const damaged = Buffer.from(snapshot);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    expect(await verify(damaged, 32_768), `byte ${at}`).toMatch(/^InvalidSnapshotError/);
  }
});

test.each([
  ["nothing", Buffer.alloc(0), /it is empty/],
  ["a checksum of nothing", withChecksum(Buffer.alloc(0)), /no etcd database/],
  ["a text with a valid checksum", withChecksum(Buffer.alloc(8_192, "text")), /no etcd database/],
  ["a snapshot that was cut off", snapshotOf(40).subarray(0, 100_000), /size/],
  ["a snapshot that was cut off at a page", snapshotOf(40).subarray(0, 20 * 4_096 + 32), /uses 40 pages/],
  ["a snapshot without its checksum", snapshotOf(40).subarray(0, -32), /size/],
  ["a snapshot with extra bytes", Buffer.concat([snapshotOf(40), Buffer.alloc(1)]), /size/],
  [
    "a database whose root page is another page",
    changed((bytes) => bytes.writeUInt16LE(4, 3 * 4_096 + 8)),
    /root page/,
  ],
  ["a database whose root page is elsewhere", changed((bytes) => bytes.writeUInt8(9, 3 * 4_096)), /root page/],
  [
    "a database without meta pages",
    changed((bytes) => {
      bytes.fill(0, 16, 30);
      bytes.fill(0, 4_112, 4_130);
    }),
    /neither meta page/,
  ],
])("%s is refused", async (_name, snapshot, message) => {
  expect(await verify(snapshot)).toMatch(message);
});

test("one of the two meta pages is enough, as for etcd", async () => {
  expect(await verify(changed((bytes) => bytes.fill(0, 16, 30)))).toMatch(/bytes$/);
  expect(await verify(changed((bytes) => bytes.fill(0, 4_112, 4_130)))).toMatch(/bytes$/);
});
