import { connect as connectTcp, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ClientCredential, type HttpConnection, tlsOptions } from "./connection-options.ts";
import { openTunnel } from "./proxy.ts";

const connectTimeoutMs = 10_000;

/** A connection to the API server, with TLS and through its proxy when it has them; the handshake is done. */
export async function openSocket(connection: HttpConnection, credential: ClientCredential): Promise<Socket> {
  const { protocol, hostname, port } = new URL(connection.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (protocol === "http:") return opened(connection, connectTcp(port === "" ? 80 : Number(port), host), "connect");
  const number = port === "" ? 443 : Number(port);
  const { proxy } = connection;
  const tunnel = proxy === undefined ? undefined : await inTime(connection, openTunnel(proxy, host, number));
  const socket = connectTls({
    ...(tunnel === undefined ? { host, port: number } : { socket: tunnel }),
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    ALPNProtocols: ["http/1.1"],
    ...tlsOptions(connection, credential),
    // Over a tunnel the name to check would be the proxy's.
    ...(tunnel === undefined || connection.serverName !== undefined ? {} : { host }),
  });
  return opened(connection, socket, "secureConnect");
}

function opened(connection: HttpConnection, socket: Socket, event: "connect" | "secureConnect"): Promise<Socket> {
  const done = new Promise<Socket>((resolve, reject) => {
    socket.once("error", reject);
    socket.once(event, () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
  return inTime(connection, done, socket);
}

async function inTime<T>({ clock }: HttpConnection, promise: Promise<T>, socket?: Socket): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = clock.setTimer(() => late.reject(new Error("the handshake took too long")), connectTimeoutMs);
  try {
    return await Promise.race([promise, late.promise]);
  } catch (cause) {
    socket?.destroy();
    throw cause;
  } finally {
    timer.cancel();
  }
}
