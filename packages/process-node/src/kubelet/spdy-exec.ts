/** One exec or attach over SPDY: a stream for each of error, stdin, stdout, stderr and resize. */
import type { Duplex } from "node:stream";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import type { ExecStreams } from "./exec-session.ts";
import { exitStatus } from "./exit-status.ts";
import { SpdySession, type SpdyStream } from "./spdy/spdy-session.ts";
import { TerminalSizeReader } from "./terminal-size.ts";

/** What the client asks for in `X-Stream-Protocol-Version`; older ones have no exit codes. */
export const spdyExecProtocol = "v4.channel.k8s.io";

type StreamName = "error" | "stdin" | "stdout" | "stderr" | "resize";

/** Starts the command when the client has opened all streams; the client going away kills it. */
export function serveSpdyExec(carrier: Duplex, start: () => ExecProcess, wanted: ExecStreams): void {
  const names = streamNames(wanted);
  const streams = new Map<StreamName, SpdyStream>();
  const onStream = (stream: SpdyStream): void => {
    const name = names.find((each) => each === stream.headers.get("streamtype"));
    if (name === undefined || streams.has(name)) return void stream.destroy();
    streams.set(name, stream);
    if (streams.size === names.length) void run(carrier, start(), streams);
  };
  new SpdySession(carrier, { streamsMax: names.length, onStream });
}

function streamNames({ stdin, stdout, stderr, tty }: ExecStreams): readonly StreamName[] {
  const asked: Readonly<Record<StreamName, boolean>> = { error: true, stdin, stdout, stderr, resize: tty };
  return (Object.keys(asked) as StreamName[]).filter((name) => asked[name]);
}

async function run(carrier: Duplex, child: ExecProcess, streams: ReadonlyMap<StreamName, SpdyStream>): Promise<void> {
  carrier.once("close", () => child.kill());
  const stdin = streams.get("stdin");
  if (stdin === undefined) child.stdin.end();
  else stdin.pipe(child.stdin);
  const sizes = new TerminalSizeReader();
  streams.get("resize")?.on("data", (chunk: Buffer) => sizes.read(chunk).forEach((size) => child.resize(size)));
  const written = (["stdout", "stderr"] as const).map((name) => passOutput(child[name], streams.get(name)));
  const exit = await child.exited;
  await Promise.all(written);
  stdin?.end();
  streams.get("resize")?.end();
  streams.get("error")?.end(JSON.stringify(exitStatus(exit)), () => carrier.end());
}

/** Resolves when all of it is sent, or nobody takes it any more. */
function passOutput(output: ExecProcess["stdout"], stream: SpdyStream | undefined): Promise<void> {
  if (stream === undefined) {
    output.resume();
    return Promise.resolve();
  }
  // The client sends nothing on it.
  stream.resume();
  return new Promise((resolve) => {
    stream.once("finish", resolve).once("close", resolve);
    output.once("close", () => stream.end());
    output.pipe(stream);
  });
}
