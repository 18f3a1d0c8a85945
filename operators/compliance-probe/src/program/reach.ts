/** Whether something listens at an address. */
import { connect, type NetConnectOpts } from "node:net";

const connectMsMax = 3_000;

/** Connects, and closes at once. */
export function reach(to: NetConnectOpts): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(to);
    socket.setTimeout(connectMsMax, () => socket.destroy(new Error(`no connection within ${connectMsMax} ms`)));
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
    socket.once("error", reject);
  });
}
