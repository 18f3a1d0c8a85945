/** Where servers open their sockets: in the host's own network namespace, or in another one. */
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { createServer, type Server } from "node:net";

export interface ServerSockets {
  /** A TCP server that listens; the caller adds its `connection` listener at once. */
  listen(address: string, port: number): Promise<Server>;
  /** A UDP socket that is bound. */
  bind(address: string, port: number): Promise<UdpSocket>;
}

/** Those of the host. */
export const hostSockets: ServerSockets = {
  listen: (address, port) =>
    new Promise((resolve, reject) => {
      const server = createServer();
      server.once("error", reject);
      server.listen(port, address, () => {
        server.off("error", reject);
        resolve(server);
      });
    }),
  bind: (address, port) =>
    new Promise((resolve, reject) => {
      const socket = createSocket("udp4");
      socket.once("error", reject);
      socket.bind(port, address, () => {
        socket.off("error", reject);
        resolve(socket);
      });
    }),
};
