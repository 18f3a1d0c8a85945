import { spawn } from "node:child_process";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import type { ExecProcess } from "../sandbox/container-runtime.ts";
import type { TerminalSize } from "../sandbox/terminal-relay.ts";
import { type ExecStreams, runExecSession } from "./exec-session.ts";

interface Seen {
  readonly wasKilled: () => boolean;
  readonly sizes: readonly TerminalSize[];
}

/** A command of this host stands for one in a container. */
function run(command: readonly string[]): ExecProcess & Seen {
  const child = spawn(command[0] ?? "", command.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.on("error", () => {});
  let killed = false;
  const sizes: TerminalSize[] = [];
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    stderr: child.stderr,
    exited: new Promise((resolve) => child.once("close", (code) => resolve({ exitCode: code ?? 137 }))),
    resize: (size) => sizes.push(size),
    sizes,
    kill() {
      killed = true;
      child.kill("SIGKILL");
    },
    wasKilled: () => killed,
  };
}

const command = (line: readonly string[]) => () => run(line);
const all: ExecStreams = { stdin: true, stdout: true, stderr: true, tty: false };

async function session(start: () => ExecProcess, streams = all, protocol = "v5.channel.k8s.io"): Promise<WebSocket> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  onTestFinished(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  server.once("connection", (socket) => void runExecSession(socket, start(), streams));
  const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, protocol);
  onTestFinished(() => socket.terminate());
  // Frames may come before a test listens.
  await new Promise<void>((resolve) =>
    socket.once("open", () => {
      socket.pause();
      resolve();
    }),
  );
  return socket;
}

/** Everything of each channel, when the session is over. */
function outcome(socket: WebSocket): Promise<Record<number, Buffer>> {
  const channels: Record<number, Buffer[]> = {};
  socket.on("message", (data: Buffer) => (channels[data[0] ?? -1] ??= []).push(data.subarray(1)));
  socket.resume();
  return new Promise((resolve) =>
    socket.once("close", () =>
      resolve(Object.fromEntries(Object.entries(channels).map(([key, parts]) => [key, Buffer.concat(parts)]))),
    ),
  );
}

const text = (channels: Record<number, Buffer>, channel: number): string => channels[channel]?.toString() ?? "";
const status = (channels: Record<number, Buffer>): unknown => JSON.parse(text(channels, 3));
const frame = (channel: number, payload: string | Buffer): Buffer =>
  Buffer.concat([Buffer.from([channel]), Buffer.from(payload)]);

test("output goes to its channels, and the last word is Success", async () => {
  const socket = await session(command(["sh", "-c", "echo out; echo err >&2"]));
  const channels = await outcome(socket);
  expect([text(channels, 1), text(channels, 2)]).toEqual(["out\n", "err\n"]);
  expect(status(channels)).toMatchObject({ status: "Success" });
});

test("an exit code travels as kubectl reads it", async () => {
  const channels = await outcome(await session(command(["sh", "-c", "exit 7"])));
  expect(status(channels)).toMatchObject({
    status: "Failure",
    reason: "NonZeroExitCode",
    details: { causes: [{ reason: "ExitCode", message: "7" }] },
  });
});

test("5 MB of input come back as they were, and its end is passed on", async () => {
  const socket = await session(command(["cat"]));
  const done = outcome(socket);
  const input = Buffer.alloc(5_000_000, "abcdefg");
  for (let at = 0; at < input.length; at += 50_000) socket.send(frame(0, input.subarray(at, at + 50_000)));
  socket.send(frame(255, Buffer.from([0])));
  const channels = await done;
  expect(channels[1]?.equals(input)).toBe(true);
});

test("without stdin the command sees the end of its input at once", async () => {
  const channels = await outcome(await session(command(["sh", "-c", "cat; echo end"]), { ...all, stdin: false }));
  expect(text(channels, 1)).toBe("end\n");
});

test("a stream that nobody asked for is not sent", async () => {
  const channels = await outcome(
    await session(command(["sh", "-c", "echo out; echo err >&2"]), { ...all, stderr: false }),
  );
  expect([text(channels, 1), text(channels, 2)]).toEqual(["out\n", ""]);
});

test("the sizes of the client's terminal reach the process", async () => {
  const child = run(["cat"]);
  const socket = await session(() => child);
  socket.send(frame(4, '{"Width":80,"Height":24}'));
  socket.send(frame(4, '{"Width":132,"Height":50}\n'));
  socket.send(frame(255, Buffer.from([0])));
  await outcome(socket);
  expect(child.sizes).toEqual([
    { columns: 80, rows: 24 },
    { columns: 132, rows: 50 },
  ]);
});

test("the oldest protocol has text in place of a Status, and none for success", async () => {
  const start = (line: string) => session(command(["sh", "-c", line]), all, "channel.k8s.io");
  const good = await outcome(await start("echo out"));
  expect([text(good, 1), good[3]]).toEqual(["out\n", undefined]);
  expect(text(await outcome(await start("exit 3")), 3)).toContain("exit code 3");
});

test("a client that goes away ends the command", async () => {
  const child = run(["sleep", "1000"]);
  const socket = await session(() => child);
  socket.terminate();
  await child.exited;
  expect(child.wasKilled()).toBe(true);
});
