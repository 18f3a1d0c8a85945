/**
 * Connections to ports of a pod over a WebSocket: the channel protocol v4.channel.k8s.io, two channels a
 * port.
 */
import { messageOf } from "@setpoint/apimachinery";
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";

export const channelProtocol = "v4.channel.k8s.io";

/** As many ports as one session may name. */
export const portsMax = 16;
/** What a pod sends waits for the client when more than this is under way. */
const bufferedBytesMax = 1024 * 1024;

/** The named ports; undefined when they are none, too many, or no ports. */
export function portsOf(query: URLSearchParams): readonly number[] | undefined {
  const ports = ["ports", "port"].flatMap((name) => query.getAll(name)).flatMap((each) => each.split(",").map(Number));
  const isPort = (port: number): boolean => Number.isInteger(port) && port > 0 && port < 65_536;
  return ports.length > 0 && ports.length <= portsMax && ports.every(isPort) ? ports : undefined;
}

export type ConnectToPort = (port: number) => Promise<Duplex>;

/** Joins each pair of channels with one connection to the pod; the session ends with the last of them. */
export function runPortForwardSession(socket: WebSocket, ports: readonly number[], connect: ConnectToPort): void {
  const upstreams = new Map<number, Duplex>();
  const end = (i: number): void => {
    upstreams.delete(i);
    socket.resume();
    if (upstreams.size === 0 && connecting === 0) socket.close(1000);
  };
  let connecting = ports.length;
  const join = async (port: number, i: number): Promise<void> => {
    const [data, error] = [2 * i, 2 * i + 1];
    // The first frame of each channel says the port.
    for (const channel of [data, error]) send(socket, channel, portBytes(port));
    const refuse = (cause: unknown): void =>
      send(socket, error, Buffer.from(`cannot reach port ${port}: ${messageOf(cause)}`));
    const upstream = await connect(port).catch(refuse);
    connecting--;
    if (upstream === undefined) return end(i);
    upstreams.set(i, upstream);
    upstream.once("error", refuse);
    upstream.once("close", () => end(i));
    if (socket.readyState !== socket.OPEN) return void upstream.destroy();
    passBack(socket, data, upstream);
  };
  // What the client sends before a connection is there waits in its own socket.
  socket.pause();
  void Promise.all(ports.map(join)).then(() => socket.resume());
  socket.on("message", (message: Buffer) => {
    const [channel = 1] = message;
    const upstream = channel % 2 === 0 ? upstreams.get(channel / 2) : undefined;
    // A program that reads slowly holds its client back, not this node's memory.
    if (upstream?.writable === true && !upstream.write(message.subarray(1))) socket.pause();
  });
  socket.once("close", () => {
    for (const upstream of upstreams.values()) upstream.destroy();
  });
}

function passBack(socket: WebSocket, channel: number, upstream: Duplex): void {
  upstream.on("data", (chunk: Buffer) => {
    if (socket.bufferedAmount > bufferedBytesMax) upstream.pause();
    send(socket, channel, chunk, () => upstream.resume());
  });
  // The protocol has no word for one half of a connection that ends.
  upstream.once("end", () => upstream.end());
  upstream.on("drain", () => socket.resume());
}

function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(port);
  return bytes;
}

function send(socket: WebSocket, channel: number, payload: Uint8Array, onSent?: () => void): void {
  if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Uint8Array.of(channel), payload]), onSent);
}
