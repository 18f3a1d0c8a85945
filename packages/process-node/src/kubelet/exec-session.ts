/** One exec over a WebSocket: the channel protocol v4/v5.channel.k8s.io. */
import type { WebSocket } from "ws";
import type { ExecProcess } from "../sandbox/container-runtime.ts";

export const execProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io"] as const;

const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, close: 255 } as const;
/** Output waits for the client when more than this is under way. */
const bufferedBytesMax = 1024 * 1024;

export interface ExecStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
}

export async function runExecSession(socket: WebSocket, child: ExecProcess, streams: ExecStreams): Promise<void> {
  if (!streams.stdin) child.stdin.end();
  socket.on("message", (data) => onFrame(socket, child, toBuffer(data)));
  for (const event of ["drain", "close"]) child.stdin.on(event, () => socket.resume());
  socket.once("close", () => child.kill());
  pump(socket, child, "stdout", streams.stdout);
  pump(socket, child, "stderr", streams.stderr);
  const { exitCode } = await child.exited;
  socket.send(frame(channels.error, Buffer.from(JSON.stringify(exitStatus(exitCode)))));
  socket.close(1000);
}

/** The Status of a command's end. */
export function exitStatus(exitCode: number): object {
  if (exitCode === 0) return { metadata: {}, status: "Success" };
  return {
    metadata: {},
    status: "Failure",
    message: `command terminated with non-zero exit code: command terminated with exit code ${exitCode}`,
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: String(exitCode) }] },
  };
}

function onFrame(socket: WebSocket, child: ExecProcess, data: Buffer): void {
  const [channel, target] = data;
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
