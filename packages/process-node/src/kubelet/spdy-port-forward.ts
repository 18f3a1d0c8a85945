/** `kubectl port-forward`: each connection is a pair of SPDY streams, one for data and one for an error. */
import { messageOf } from "@setpoint/apimachinery";
import type { Duplex } from "node:stream";
import type { ConnectToPort } from "./port-forward-session.ts";
import { SpdySession, type SpdyStream } from "./spdy/spdy-session.ts";

/** What the client asks for in `X-Stream-Protocol-Version`. */
export const spdyProtocol = "portforward.k8s.io";
/** SPDY inside a WebSocket, which kubectl tries first. */
export const tunnelProtocol: string = `SPDY/3.1+${spdyProtocol}`;

/** Two for each connection. */
const streamsMax = 200;

/** Serves the connections of one client until `carrier` closes. */
export function serveSpdyPortForward(carrier: Duplex, connect: ConnectToPort): void {
  /** Error streams whose data stream has not come yet, by request. */
  const errors = new Map<string, SpdyStream>();
  const onStream = (stream: SpdyStream): void => {
    const id = stream.headers.get("requestid") ?? "";
    const type = stream.headers.get("streamtype");
    if (type === "error") {
      errors.set(id, stream);
      stream.once("close", () => errors.delete(id)).resume();
      return;
    }
    const error = errors.get(id);
    errors.delete(id);
    const port = Number(stream.headers.get("port"));
    const isPort = Number.isInteger(port) && port > 0 && port < 65_536;
    if (type !== "data" || error === undefined || !isPort) return void stream.destroy();
    void join(stream, error, port, connect);
  };
  new SpdySession(carrier, { streamsMax, onStream });
}

async function join(data: SpdyStream, error: SpdyStream, port: number, connect: ConnectToPort): Promise<void> {
  const failed = (cause: unknown): void => {
    if (error.writable) error.end(`cannot reach port ${port}: ${messageOf(cause)}`);
  };
  try {
    const upstream = await connect(port);
    upstream.once("error", failed);
    upstream.once("close", () => {
      data.end();
      if (error.writable) error.end();
    });
    data.once("close", () => upstream.destroy());
    data.pipe(upstream).pipe(data);
  } catch (cause) {
    failed(cause);
    data.end();
  }
}
