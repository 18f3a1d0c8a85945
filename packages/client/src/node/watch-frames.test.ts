import { expect, test } from "vitest";
import { watchFrames } from "./watch-frames.ts";

async function* chunks(text: string, size: number): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

test.each([1, 2, 7, 1000])("frames come out whole however the bytes are cut (%i at a time)", async (size) => {
  const frames = [
    { type: "ADDED", object: { name: "ä€😀" } },
    { type: "BOOKMARK", object: {} },
  ];
  const text = frames.map((frame) => `${JSON.stringify(frame)}\n`).join("");
  expect(await Array.fromAsync(watchFrames(chunks(text, size)))).toEqual(frames);
});

test("an integer beyond 2^53 of a frame is exact", async () => {
  const text = '{"type":"ADDED","object":{"spec":{"count":9007199254740993}}}\n';
  const [frame] = await Array.fromAsync(watchFrames(chunks(text, 7)));
  expect(frame?.object).toEqual({ spec: { count: 9007199254740993n } });
});
