/**
 * One exec or attach over a WebSocket: a channel for each stream. Before v4 the channel of errors has text,
 * and nothing for a command that succeeds; clients that name no protocol speak the oldest.
 */
import type { WebSocket } from "ws";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import { type ExitStatus, exitStatus } from "./exit-status.ts";
import { TerminalSizeReader } from "./terminal-size.ts";

export const execProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io", "channel.k8s.io"] as const;

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
/** Output waits for the client when more than this is under way. */
const bufferedBytesMax = 1024 * 1024;

export interface ExecStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export async function runExecSession(socket: WebSocket, child: ExecProcess, streams: ExecStreams): Promise<void> {
  if (!streams.stdin) child.stdin.end();
  const sizes = new TerminalSizeReader();
  socket.on("message", (data) => onFrame(socket, child, sizes, toBuffer(data)));
  for (const event of ["drain", "close"]) child.stdin.on(event, () => socket.resume());
  socket.once("close", () => child.kill());
  pump(socket, child, "stdout", streams.stdout);
  pump(socket, child, "stderr", streams.stderr);
  const exit = await child.exited;
  const text = lastWord(socket.protocol, exitStatus(exit));
  if (text !== "") socket.send(frame(channels.error, Buffer.from(text)));
  socket.close(1000);
}

function lastWord(protocol: string, status: ExitStatus): string {
  const hasStatus = /^v[45]\./.test(protocol);
  return hasStatus ? JSON.stringify(status) : (status.message ?? "");
}

function onFrame(socket: WebSocket, child: ExecProcess, sizes: TerminalSizeReader, data: Buffer): void {
  const [channel, target] = data;
  if (channel === channels.resize) for (const size of sizes.read(data.subarray(1))) child.resize(size);
  if (channel === channels.stdin && !child.stdin.write(data.subarray(1)) && child.stdin.writable) {
    // A command that reads slowly holds its client back, not this node's memory.
    socket.pause();
  }
  if (channel === channels.close && target === channels.stdin) child.stdin.end();
}

function pump(socket: WebSocket, child: ExecProcess, name: "stdout" | "stderr", isWanted: boolean): void {
  const stream = child[name];
  stream.on("data", (chunk: Buffer) => {
    if (!isWanted || socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > bufferedBytesMax) stream.pause();
    socket.send(frame(channels[name], chunk), () => stream.resume());
  });
}

function frame(channel: number, payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([channel]), payload]);
}

function toBuffer(data: Buffer | ArrayBuffer | Buffer[]): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data);
  return Buffer.isBuffer(data) ? data : Buffer.from(data);
}
