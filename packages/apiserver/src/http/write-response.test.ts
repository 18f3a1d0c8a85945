import { Writable } from "node:stream";
import type { WatchFrame } from "@setpoint/apimachinery";
import { seededRandom, VirtualClock } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import type { Reply } from "./reply.ts";
import { slowClientMsMax, watchBufferBytesMax, writeResponse } from "./write-response.ts";

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
