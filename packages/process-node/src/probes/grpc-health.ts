/**
 * One question of the gRPC health protocol (grpc.health.v1.Health/Check): a message of one field each way,
 * over HTTP/2.
 */
import { connect } from "node:http2";
import type { Socket } from "node:net";

const statusNames = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];
/** gRPC's own status codes. */
const unimplemented = "12";
const answerBytesMax = 1_024;

/**
 * Undefined when the service serves; otherwise why not. Rejects when there is no connection, or none any
 * more.
 */
export function checkGrpcHealth(
  socket: Socket,
  authority: string,
  service: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const session = connect(authority, { createConnection: () => socket });
  return new Promise<string | undefined>((resolve, reject) => {
    session.once("error", reject);
    const stream = session.request({
      ":method": "POST",
      ":path": "/grpc.health.v1.Health/Check",
      "content-type": "application/grpc",
      "user-agent": "kube-probe/1.36",
      te: "trailers",
    });
    let body = Buffer.alloc(0);
    let grpcStatus = "";
    // Without a body the status stands in the headers instead of the trailers.
    const onHeaders = (headers: { readonly "grpc-status"?: unknown }): void => {
      if (headers["grpc-status"] !== undefined) grpcStatus = String(headers["grpc-status"]);
    };
    stream.on("response", onHeaders).on("trailers", onHeaders);
    stream.on("data", (chunk: Buffer) => (body = Buffer.concat([body, chunk]).subarray(0, answerBytesMax)));
    stream.once("error", reject);
    stream.once("end", () => resolve(verdict(grpcStatus, body)));
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    stream.end(question(service));
  }).finally(() => session.destroy());
}

/** Five bytes of frame head, then `string service = 1`. */
function question(service: string): Buffer {
  const name = Buffer.from(service);
  const message = name.length === 0 ? name : Buffer.concat([Buffer.from([0x0a, name.length]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** The answer is `ServingStatus status = 1`; 0 is left out on the wire. */
function verdict(grpcStatus: string, body: Buffer): string | undefined {
  if (grpcStatus === unimplemented)
    return "error: this server does not implement the grpc health protocol (grpc.health.v1.Health)";
  if (grpcStatus !== "0") return `error: health rpc failed with status ${grpcStatus || "none"}`;
  const status = statusNames[body[5] === 0x08 ? (body[6] ?? 0) : 0] ?? "UNKNOWN";
  return status === "SERVING" ? undefined : `service unhealthy (responded with "${status}")`;
}
