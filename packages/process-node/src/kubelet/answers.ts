/** Short answers of the kubelet server. */
import { type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";

/** Answers with a text and closes the connection, so that the client does not send the rest of its body. */
export function answer(response: ServerResponse, code: number, text: string): void {
  if (response.headersSent) return void response.destroy();
  response.writeHead(code, { "content-type": "text/plain", connection: "close" });
  response.end(text);
}

export function answerJson(response: ServerResponse, value: object): void {
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(value));
}

/** The answer to a request for another protocol that is refused. */
export function refuse(socket: Duplex, code: number, text: string): void {
  const head = `HTTP/1.1 ${code} ${STATUS_CODES[code] ?? "Refused"}\r\ncontent-type: text/plain`;
  socket.end(`${head}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`);
}
