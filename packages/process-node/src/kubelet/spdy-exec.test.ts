import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import type { TerminalSize } from "../sandbox/terminal-relay.ts";
import type { ExecStreams } from "./exec-session.ts";
import { serveSpdyExec } from "./spdy-exec.ts";
import { listen, SpdyClient } from "./spdy/spdy-client.fixture.ts";
import { dataFrame } from "./spdy/spdy-frames.ts";

/** A process that a test plays. */
class Process implements ExecProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly stderr = new PassThrough();
  readonly sizes: TerminalSize[] = [];
  readonly #end = Promise.withResolvers<{ exitCode: number }>();
  readonly exited = this.#end.promise;
  wasKilled = false;

  resize(size: TerminalSize): void {
    this.sizes.push(size);
  }

  kill(): void {
    this.wasKilled = true;
  }

  end(exitCode: number): void {
    this.stdout.end();
    this.stderr.end();
    this.#end.resolve({ exitCode });
  }
}

const all: ExecStreams = { stdin: true, stdout: true, stderr: true, tty: false };

async function session(names: readonly string[], wanted = all) {
  const child = new Process();
  let starts = 0;
  const start = (): ExecProcess => (starts++, child);
  const client = await SpdyClient.to(await listen((socket) => serveSpdyExec(socket, start, wanted)));
  for (const [i, streamtype] of names.entries()) await client.open(2 * i + 1, { streamtype });
  const text = (name: string) => client.streams.get(2 * names.indexOf(name) + 1);
  const send = (name: string, data: string, isLast = false): unknown =>
    client.socket.write(dataFrame(2 * names.indexOf(name) + 1, Buffer.from(data), isLast));
  return { child, client, text, send, starts: () => starts };
}

test("input and outputs have streams of their own, and the last word is the Status on the error stream", async () => {
  const { child, client, text, send } = await session(["error", "stdin", "stdout", "stderr"]);
  send("stdin", "typed", true);
  let typed = "";
  for await (const chunk of child.stdin) typed += String(chunk);
  expect(typed).toBe("typed");
  child.stdout.write("out");
  child.stderr.write("err");
  child.end(7);
  await expect.poll(() => client.isClosed).toBe(true);
  expect([text("stdout"), text("stderr")]).toEqual([
    { text: "out", isEnded: true },
    { text: "err", isEnded: true },
  ]);
  expect(JSON.parse(text("error")?.text ?? "")).toMatchObject({
    status: "Failure",
    details: { causes: [{ reason: "ExitCode", message: "7" }] },
  });
});

test("with a terminal the sizes come on the stream resize", async () => {
  const { child, send } = await session(["error", "stdout", "resize"], {
    ...all,
    stdin: false,
    stderr: false,
    tty: true,
  });
  send("resize", '{"Width":80,"Height":24}\n{"Width":100,');
  send("resize", '"Height":30}\n');
  await expect
    .poll(() => child.sizes)
    .toEqual([
      { columns: 80, rows: 24 },
      { columns: 100, rows: 30 },
    ]);
});

test("the command starts when the client has opened all streams that it asked for, and a stream twice is reset", async () => {
  const { client, starts } = await session(["error", "stdout", "stdout", "nonsense"]);
  await expect.poll(() => client.kinds.filter((kind) => kind === "reset")).toHaveLength(2);
  expect(starts()).toBe(0);
  await client.open(21, { streamtype: "stdin" });
  await client.open(23, { streamtype: "stderr" });
  await expect.poll(starts).toBe(1);
});

test("a client that goes away ends the command", async () => {
  const { child, client, starts } = await session(["error", "stdin", "stdout", "stderr"]);
  await expect.poll(starts).toBe(1);
  client.socket.destroy();
  await expect.poll(() => child.wasKilled).toBe(true);
});
