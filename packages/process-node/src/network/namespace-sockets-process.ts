/**
 * The program that opens sockets inside a network namespace and hands them to its parent, so that neither the
 * API server nor an agent needs a relay there. It keeps none of them and ends with its parent.
 */
import { createSocket } from "node:dgram";
import { connect, createServer, isIP, type Socket } from "node:net";
import type { SocketAnswer, SocketRequest } from "./namespace-sockets.ts";

const connecting = new Map<number, Socket>();

function answer(message: SocketAnswer): void {
  process.send?.(message);
}

function refuse(id: number, error: NodeJS.ErrnoException): void {
  answer({ id, kind: "failed", code: error.code ?? "ERR_NETWORK", message: error.message });
}

function openConnection({ id, address, port }: SocketRequest): void {
  if (isIP(address) === 0) return refuse(id, new Error(`${JSON.stringify(address)} is no IP address`));
  const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
  // What the other side sends is read by the parent.
  socket.pause();
  connecting.set(id, socket);
  const fail = (error: Error): void => {
    connecting.delete(id);
    refuse(id, error);
  };
  socket.once("error", fail);
  socket.once("connect", () => {
    socket.off("error", fail);
    socket.on("error", () => {});
    connecting.delete(id);
    process.send?.({ id, kind: "opened" } satisfies SocketAnswer, socket);
  });
}

function listen({ id, address, port }: SocketRequest): void {
  // A connection that comes before the parent has the socket is reset: its client tries again.
  const server = createServer((socket) => socket.resetAndDestroy());
  server.once("error", (error) => refuse(id, error));
  server.listen({ host: address, port }, () => {
    process.send?.({ id, kind: "opened" } satisfies SocketAnswer, server, {}, () => server.close());
  });
}

function bind({ id, address, port }: SocketRequest): void {
  const socket = createSocket("udp4");
  socket.once("error", (error) => refuse(id, error));
  socket.bind(port, address, () => {
    process.send?.({ id, kind: "opened" } satisfies SocketAnswer, socket, {}, () => socket.close());
  });
}

process.on("message", (request: SocketRequest) => {
  if (request.kind === "connect") openConnection(request);
  else if (request.kind === "listen") listen(request);
  else if (request.kind === "bind") bind(request);
  else connecting.get(request.id)?.destroy();
});
process.on("disconnect", () => process.exit(0));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
answer({ id: 0, kind: "ready" });
