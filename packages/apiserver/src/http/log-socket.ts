/** Logs over a WebSocket, one way: each message is a piece of the log, as bytes or as their base64. */
import type { Readable } from "node:stream";
import { WebSocketServer } from "ws";
import type { UpgradeRequest } from "./serve.ts";

const protocols = ["binary.k8s.io", "base64.binary.k8s.io"] as const;

/** Without a protocol, messages are bytes. */
const sockets = new WebSocketServer({
  noServer: true,
  handleProtocols: (asked) => protocols.find((each) => asked.has(each)) ?? false,
});

/** Ends with the log, or with its reader. */
export function sendLog({ message, socket, head }: UpgradeRequest, log: Readable): void {
  socket.once("close", () => log.destroy());
  sockets.handleUpgrade(message, socket, head, (to) => {
    const isText = to.protocol === protocols[1];
    // What a client sends is not read.
    to.on("message", () => {});
    to.on("error", () => to.terminate());
    log.on("data", (chunk: Buffer) => {
      log.pause();
      to.send(isText ? chunk.toString("base64") : chunk, () => log.resume());
    });
    log.once("end", () => to.close(1000));
    log.once("error", () => to.close(1011));
  });
}
