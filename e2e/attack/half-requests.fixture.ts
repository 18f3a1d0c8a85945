/**
 * Opens many connections at once, and sends half of a request on each: `half-requests.fixture.ts PORT COUNT`.
 * Lives until it is killed.
 */
import { connect } from "node:tls";

const [port, count] = process.argv.slice(2).map(Number);
const half = "GET /api/v1/namespaces HTTP/1.1\r\nhost: localhost\r\nx-half: ";

for (let i = 0; i < (count ?? 0); i++) {
  const socket = connect({ host: "127.0.0.1", port: port ?? 0, rejectUnauthorized: false });
  socket.on("error", () => undefined);
  socket.once("secureConnect", () => socket.write(half));
}
setInterval(() => undefined, 1_000);
