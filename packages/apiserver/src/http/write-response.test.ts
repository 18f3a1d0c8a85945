import { Writable } from "node:stream";
import type { WatchFrame } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { Reply } from "./reply.ts";
import { largeListMsMax, largeListsMax } from "./large-answers.ts";
import { listSliceLength, slowClientMsMax, watchBufferBytesMax, writeResponse } from "./write-response.ts";

const never = new AbortController().signal;

/** Keeps what it gets, and takes `delayMs` for each piece. */
class SlowReply implements Reply {
  readonly started = true;
  readonly pieces: string[] = [];
  readonly out: Writable;

  constructor(clock: VirtualClock, delayMs: number) {
    const write = (piece: Buffer, _encoding: string, done: () => void): void => {
      this.pieces.push(piece.toString());
      clock.setTimer(done, delayMs);
    };
    this.out = new Writable({ write });
  }

  head(): void {
    // Only the body counts here.
  }

  whole(_status: number, _headers: unknown, body: string): void {
    this.pieces.push(body);
  }

  cut(): void {
    this.out.destroy();
  }
}

const item = (i: number, length: number): object => Object.freeze({ name: `n${i}`, text: "x".repeat(length) });

test.each([
  ["many small items", 2_000, 300],
  ["few large items", 20, 100_000],
  ["few small items", 3, 10],
  ["no items", 0, 0],
])("a list of %s is sent whole, in slices of bounded size", async (_what, count, length) => {
  const clock = new VirtualClock(seededRandom(1));
  const reply = new SlowReply(clock, 1);
  const list = { kind: "List", metadata: {}, items: Array.from({ length: count }, (_, i) => item(i, length)) };
  const options = { clock, headers: {}, gzip: false, pretty: false, signal: never, headOnly: false };
  const written = writeResponse(reply, { kind: "object", status: 200, headers: {}, object: list }, options);
  await clock.run(1_000);
  await written;
  expect(JSON.parse(reply.pieces.join(""))).toEqual(list);
  for (const piece of reply.pieces) expect(piece.length).toBeLessThan(listSliceLength + 20_000);
});

test("a list that is read too slowly is cut, because it holds what has changed meanwhile", async () => {
  const clock = new VirtualClock(seededRandom(1));
  const reply = new SlowReply(clock, slowClientMsMax / 2);
  const list = { kind: "List", metadata: {}, items: Array.from({ length: 50 }, (_, i) => item(i, 100_000)) };
  const options = { clock, headers: {}, gzip: false, pretty: false, signal: never, headOnly: false };
  const written = writeResponse(reply, { kind: "object", status: 200, headers: {}, object: list }, options);
  const dropped = expect(written).rejects.toMatchObject({ code: "ERR_SLOW_CLIENT" });
  await clock.settle();
  await clock.run(largeListMsMax + slowClientMsMax);
  await dropped;
  expect(reply.pieces.length).toBeLessThan(40);
});

test("more large lists than the server writes at a time get 429", async () => {
  const clock = new VirtualClock(seededRandom(1));
  const list = { kind: "List", items: [item(1, 200_000), item(2, 200_000)] };
  const options = { clock, headers: {}, gzip: false, pretty: false, signal: never, headOnly: false };
  const response = { kind: "object", status: 200, headers: {}, object: list } as const;
  const underway = Array.from({ length: largeListsMax }, () =>
    writeResponse(new SlowReply(clock, 1_000), response, options),
  );
  await expect(writeResponse(new SlowReply(clock, 1), response, options)).rejects.toMatchObject({
    status: { code: 429, details: { retryAfterSeconds: 1 } },
  });
  await clock.run(20_000);
  await Promise.all(underway);
  const late = writeResponse(new SlowReply(clock, 1), response, options);
  await clock.run(100);
  await late;
});

/** A client that reads nothing. */
class DeafReply implements Reply {
  readonly started = true;
  readonly out: Writable = new Writable({ write: () => undefined });

  head(): void {
    // Nobody looks.
  }

  whole(): void {
    // Nor for all of it at once.
  }

  cut(): void {
    this.out.destroy();
  }
}

test("a watcher that does not read is dropped after the limit, and never holds more than the buffer", async () => {
  const clock = new VirtualClock(seededRandom(1));
  const reply = new DeafReply();
  const object = { kind: "Pod", text: "x".repeat(100_000) };
  let sent = 0;
  async function* frames(): AsyncGenerator<WatchFrame> {
    for (;;) {
      sent++;
      yield { type: "MODIFIED", object };
    }
  }
  const written = writeResponse(
    reply,
    { kind: "watch", status: 200, headers: {}, frames: frames() },
    { clock, headers: {}, gzip: false, pretty: false, signal: new AbortController().signal, headOnly: false },
  );
  const dropped = expect(written).rejects.toMatchObject({ code: "ERR_SLOW_CLIENT" });
  await clock.settle();
  await clock.run(slowClientMsMax + 1);
  await dropped;
  expect(sent).toBe(Math.ceil(watchBufferBytesMax / 100_050));
});
