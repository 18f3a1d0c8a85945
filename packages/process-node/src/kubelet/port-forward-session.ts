/** Connections to ports of a pod over a WebSocket: the channel protocol v4.channel.k8s.io, two channels a port. */
import { messageOf } from "@setpoint/apimachinery";
import { connect, type Socket } from "node:net";
import type { WebSocket } from "ws";

/** kubectl speaks SPDY here, which this node does not. */
export const portForwardProtocols = ["v4.channel.k8s.io"] as const;

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

/** Joins each pair of channels with one connection to the pod's address; the session ends with the last of them. */
export function runPortForwardSession(socket: WebSocket, host: string, ports: readonly number[]): void {
  const open = new Set<Socket>();
  const upstreams = ports.map((port, i) => {
    const [data, error] = [2 * i, 2 * i + 1];
    // The first frame of each channel says the port.
    for (const channel of [data, error]) send(socket, channel, portBytes(port));
    const upstream = connect({ host, port });
    open.add(upstream);
    upstream.on("data", (chunk: Buffer) => {
      if (socket.bufferedAmount > bufferedBytesMax) upstream.pause();
      send(socket, data, chunk, () => upstream.resume());
    });
    upstream.on("drain", () => socket.resume());
    upstream.once("error", (cause) =>
      send(socket, error, Buffer.from(`cannot reach port ${port}: ${messageOf(cause)}`)),
    );
    upstream.once("close", () => {
      open.delete(upstream);
      socket.resume();
      if (open.size === 0) socket.close(1000);
    });
    return upstream;
  });
  socket.on("message", (message: Buffer) => {
    const [channel = 1] = message;
    const upstream = channel % 2 === 0 ? upstreams[channel / 2] : undefined;
    // A program that reads slowly holds its client back, not this node's memory.
    if (upstream?.writable === true && !upstream.write(message.subarray(1))) socket.pause();
  });
  socket.once("close", () => {
    for (const upstream of open) upstream.destroy();
  });
}

function portBytes(port: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(port);
  return bytes;
}

function send(socket: WebSocket, channel: number, payload: Uint8Array, onSent?: () => void): void {
  if (socket.readyState === socket.OPEN) socket.send(Buffer.concat([Uint8Array.of(channel), payload]), onSent);
}
