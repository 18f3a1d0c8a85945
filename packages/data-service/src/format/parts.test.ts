import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { MemoryStorage } from "../storage/memory-storage.ts";
import { readParts, writeParts } from "./parts.ts";

const { signal } = new AbortController();

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function joined(stream: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of stream) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Takes the bytes of a write when it ends, as a library may that sends them meanwhile. */
class SlowStorage extends MemoryStorage {
  underWay = 0;
  underWayMax = 0;

  override async write(path: string, bytes: Uint8Array, writeSignal: AbortSignal): Promise<void> {
    this.underWayMax = Math.max(this.underWayMax, ++this.underWay);
    await sleep(systemClock, 5);
    await super.write(path, bytes, writeSignal);
    this.underWay--;
  }
}

test.each([[0], [1], [99], [100], [101], [1_000], [1_234]])(
  "%i bytes are stored in parts of 100 and read back",
  async (length) => {
    const data = randomBytes(length);
    for (const size of [7, 100, 5_000]) {
      const storage = new SlowStorage();
      const stored = await writeParts(storage, "orders", inPieces(data, size), 100, signal);
      expect(stored).toMatchObject({ parts: Math.max(1, Math.ceil(length / 100)), bytes: length });
      expect(storage.objects.size).toBe(stored.parts);
      expect(data.equals(await joined(readParts(storage, "orders", stored, signal)))).toBe(true);
      expect(storage.underWayMax).toBe(1);
    }
  },
);

test("the stream is not read ahead of a slow store", async () => {
  const storage = new SlowStorage();
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    for (; read < 50; read++) {
      // The part that is on its way, the one that is full, and the piece for the next.
      expect(read - storage.objects.size).toBeLessThanOrEqual(3);
      yield Buffer.alloc(100);
    }
  }
  await writeParts(storage, "orders", counted(), 100, signal);
  expect(storage.objects.size).toBe(50);
});
