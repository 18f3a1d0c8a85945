/** The encryption on its own, without the checksums of the manifest. */
import { createHash, randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { isTransferError } from "../engine/transfer-error.ts";
import { chunkBytes, seal, unseal } from "./sealed-stream.ts";

const key = { name: "2026", bytes: Buffer.alloc(32, 1) };
const sealedChunk = chunkBytes + 16;

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function joined(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(Uint8Array.from(piece));
  return Buffer.concat(pieces);
}

const sealed = (data: Uint8Array, object = "orders", size = 10_000): Promise<Buffer> =>
  joined(seal(inPieces(data, size), key, object, randomBytes));

async function opened(
  stored: Uint8Array,
  { object = "orders", by = key, size = 1 << 20 } = {},
): Promise<Buffer | string> {
  try {
    return await joined(unseal(inPieces(stored, size), by, object));
  } catch (error) {
    return isTransferError(error) ? error.reason : String(error);
  }
}

const headerBytes = 8 + 4 + 32 + 7 + 16 + 1 + 4 + 2 + 6;

test.each([[0], [1], [chunkBytes - 1], [chunkBytes], [chunkBytes + 1], [3 * chunkBytes], [3 * chunkBytes + 5]])(
  "%i bytes come back, whatever the pieces",
  async (length) => {
    const data = randomBytes(length);
    for (const size of [1_000, chunkBytes, sealedChunk, 1 << 20]) {
      const stored = await sealed(data, "orders", size);
      expect(stored.length).toBe(headerBytes + length + 16 * Math.max(1, Math.ceil(length / chunkBytes)));
      expect(data.equals(Buffer.from(await opened(stored, { size })))).toBe(true);
    }
  },
);

test("the format does not change: a backup of today is read by later versions", async () => {
  let counter = 0;
  const fixed = (count: number): Buffer => Buffer.alloc(count, ++counter);
  const stored = await joined(seal(inPieces(Buffer.alloc(100_000, 9), 7_000), key, "orders", fixed));
  expect(stored.subarray(0, 12).toString("hex")).toBe("53455450424b000100010000");
  expect(createHash("sha256").update(stored).digest("hex")).toMatchInlineSnapshot(
    `"d0d29ff582be7a2e6bedc9c33ee48c200324b7db6ae6d5dc65e6ffad4679cfed"`,
  );
});

test("two backups of the same data share no bytes but those of the header", async () => {
  const data = Buffer.alloc(1_000);
  const [one, two] = [await sealed(data), await sealed(data)];
  expect(one.subarray(headerBytes).equals(two.subarray(headerBytes))).toBe(false);
});

test("a chunk that is changed, moved, doubled, missing or cut off does not open", async () => {
  const stored = await sealed(randomBytes(3 * chunkBytes + 100));
  const header = stored.subarray(0, headerBytes);
  const chunk = (index: number): Buffer =>
    stored.subarray(headerBytes + index * sealedChunk, headerBytes + (index + 1) * sealedChunk);
  const rows = [[], [0], [0, 1], [0, 1, 2], [0, 1, 2, 2], [0, 1, 2, 3, 3], [1, 0, 2, 3], [0, 2, 3], [3], [0, 1, 3]];
  for (const row of rows)
    expect(await opened(Buffer.concat([header, ...row.map(chunk)])), row.join()).toBe("BackupDamaged");
  for (const at of [0, 1, 65_535, 65_536, sealedChunk, stored.length - headerBytes - 1]) {
    const changed = Buffer.from(stored);
    changed[headerBytes + at] = (changed[headerBytes + at] ?? 0) ^ 1;
    expect(await opened(changed), `byte ${at}`).toBe("BackupDamaged");
  }
});

test("every byte of the header counts", async () => {
  const stored = await sealed(Buffer.alloc(10));
  for (let at = 0; at < headerBytes; at++) {
    const changed = Buffer.from(stored);
    changed[at] = (changed[at] ?? 0) ^ 0x80;
    expect(["BackupDamaged", "KeyInvalid"], `byte ${at}`).toContain(await opened(changed));
  }
  for (let length = 0; length < headerBytes + 16; length++)
    expect(await opened(stored.subarray(0, length)), `${length} bytes`).toBe("BackupDamaged");
});

test("chunks of another backup under the same key do not open", async () => {
  const [one, two] = [await sealed(Buffer.alloc(10)), await sealed(Buffer.alloc(10))];
  expect(await opened(Buffer.concat([one.subarray(0, headerBytes), two.subarray(headerBytes)]))).toBe("BackupDamaged");
});

test("a backup opens neither under another name nor with another key", async () => {
  const stored = await sealed(Buffer.alloc(10));
  expect(await opened(stored, { object: "ordersX" })).toBe("BackupDamaged");
  expect(await opened(stored, { by: { name: "2026", bytes: Buffer.alloc(32, 2) } })).toBe("KeyInvalid");
  expect(await opened(stored, { by: { ...key, name: "2025" } })).toBe("BackupDamaged");
});
