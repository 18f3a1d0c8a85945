/** Asks a server for its certificate: clients must know a name that stands in it. */
import type { Duplex } from "node:stream";
import { connect } from "node:tls";

/** A server that speaks another protocol waits for more, or ends the connection. */
const answerMsMax = 3_000;

/** The names of the certificate; undefined when the server does not speak TLS. */
export function certificateNames(stream: Duplex, serverName: string): Promise<readonly string[] | undefined> {
  return new Promise((resolve) => {
    // Nothing secret is sent: the certificate is read, and the connection is closed.
    const socket = connect({ socket: stream, servername: serverName, rejectUnauthorized: false });
    const end = (names: readonly string[] | undefined): void => {
      clearTimer();
      resolve(names);
      socket.destroy();
      stream.destroy();
    };
    const signal = AbortSignal.timeout(answerMsMax);
    const onTimeout = (): void => end(undefined);
    const clearTimer = (): void => signal.removeEventListener("abort", onTimeout);
    signal.addEventListener("abort", onTimeout, { once: true });
    socket.once("secureConnect", () => end(namesOf(socket.getPeerCertificate().subjectaltname)));
    socket.once("close", () => end(undefined));
    // A server that asks for a certificate may end the connection as soon as it has shown its own.
    socket.on("error", () => end(undefined));
    stream.on("error", () => end(undefined));
  });
}

/** `DNS:a.example, IP Address:127.0.0.1` in Node's notation. */
function namesOf(text: string | undefined): readonly string[] {
  return [...(text ?? "").matchAll(/(?:DNS|IP Address):"?([^",]+)"?/g)].flatMap(([, name]) => name ?? []);
}
