import type { Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { type ClientCredential, type HttpConnection, tlsOptions } from "./connection-options.ts";
import { openTunnel } from "./proxy.ts";

const connectTimeoutMs = 10_000;

/** A TLS connection to the API server, through its proxy when it has one; the handshake is done. */
export async function openTls(
  connection: HttpConnection,
  credential: ClientCredential,
  protocols: readonly string[],
): Promise<TLSSocket> {
  const { hostname, port } = new URL(connection.server);
  const host = hostname.replace(/^\[|\]$/g, "");
  const number = port === "" ? 443 : Number(port);
  const { proxy } = connection;
  const tunnel = proxy === undefined ? undefined : await inTime(connection, openTunnel(proxy, host, number));
  const socket = connectTls({
    ...(tunnel === undefined ? { host, port: number } : { socket: tunnel }),
    ...(/^[\d.]+$|:/.test(host) ? {} : { servername: host }),
    ALPNProtocols: [...protocols],
    ...tlsOptions(connection, credential),
    // Over a tunnel the name to check would be the proxy's.
    ...(tunnel === undefined || connection.serverName !== undefined ? {} : { host }),
  });
  const secured = new Promise<TLSSocket>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("secureConnect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
  return inTime(connection, secured, socket);
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
