/**
 * One call of etcd's gRPC API: etcd takes the name in a client's certificate for its user, but not on the
 * JSON gateway. With the certificate of root, the operator gets into data whose password of root it does not
 * know, such as a restored backup.
 */
import { connect } from "node:http2";
import { type EtcdCertificates, EtcdError, type EtcdLogin } from "./etcd-gateway.ts";

const deadlineMs = 5_000;
const path = "/etcdserverpb.Auth/UserChangePassword";

/** Gives the user of the login this password. */
export async function changePassword(
  endpoint: string,
  login: EtcdLogin,
  { ca, certificate, key, serverName }: EtcdCertificates,
  signal: AbortSignal,
): Promise<void> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]);
  const session = connect(endpoint, { ca, cert: certificate, key, servername: serverName });
  try {
    await new Promise<void>((resolve, reject) => {
      session.on("error", reject);
      within.addEventListener("abort", () => reject(within.reason), { once: true });
      const headers = { ":method": "POST", ":path": path, "content-type": "application/grpc", te: "trailers" };
      const stream = session.request(headers, { signal: within });
      const judge = (answer: Readonly<Record<string, unknown>>): void => {
        const status = answer["grpc-status"];
        if (status === "0") resolve();
        else if (status !== undefined) reject(new EtcdError(messageOf(answer["grpc-message"], status)));
      };
      stream.on("response", judge);
      stream.on("trailers", judge);
      stream.on("error", reject);
      stream.on("close", () => reject(new Error(`${endpoint} ended the call without a status`)));
      stream.resume();
      stream.end(frame(login));
    });
  } finally {
    session.destroy();
  }
}

function messageOf(message: unknown, status: unknown): string {
  return typeof message === "string" ? decodeURIComponent(message) : `gRPC status ${String(status)}`;
}

/** One message of gRPC: a byte for "not compressed", its length, and a message of protobuf. */
function frame({ name, password }: EtcdLogin): Buffer {
  const message = Buffer.concat([field(1, name), field(2, password)]);
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return Buffer.concat([header, message]);
}

/** A string of protobuf; names and passwords of the operator are shorter than 128 bytes. */
function field(number: number, text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length > 127) throw new Error(`Cannot send a name or password of ${bytes.length} bytes: at most 127`);
  return Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
}
