/** Connections of a kubelet server that become a WebSocket or SPDY. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { refuse } from "./answers.ts";

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

const frameBytesMax = 2 * 1024 * 1024;

/** A server for these subprotocols, the first of them preferred. */
export function webSocketServer(protocols: readonly string[]): WebSocketServer {
  const handleProtocols = (offered: ReadonlySet<string>): string | false =>
    protocols.find((protocol) => offered.has(protocol)) ?? false;
  return new WebSocketServer({ noServer: true, handleProtocols, maxPayload: frameBytesMax });
}

/** A frame that breaks the protocol ends its session, not this process. */
export function endOnError(webSocket: WebSocket): void {
  webSocket.on("error", () => webSocket.terminate());
}

export function listOf(header: string | string[] | undefined): readonly string[] {
  return [header ?? []].flat().flatMap((each) => each.split(",").map((part) => part.trim()));
}

export function isSpdy({ headers }: IncomingMessage): boolean {
  return headers.upgrade?.toLowerCase() === "spdy/3.1";
}

/**
 * What clients fall back to that cannot open a WebSocket. `needs` says what to do for one without
 * `protocol`.
 */
export function takeSpdy(
  { request, socket, head }: Upgrade,
  protocol: string,
  needs: string,
  serve: (carrier: Duplex) => void,
): void {
  if (!listOf(request.headers["x-stream-protocol-version"]).includes(protocol)) return refuse(socket, 403, needs);
  const answer = ["HTTP/1.1 101 Switching Protocols", "Connection: Upgrade", "Upgrade: SPDY/3.1"];
  socket.write(`${[...answer, `X-Stream-Protocol-Version: ${protocol}`].join("\r\n")}\r\n\r\n`);
  if (head.length > 0) socket.unshift(head);
  serve(socket);
}
