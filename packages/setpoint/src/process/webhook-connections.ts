/** The open connections of a webhook server. */
import type { Socket } from "node:net";
import { SharedRoom, type RoomHolder } from "./shared-room.ts";

/** Busy from when its request is there as a whole until that is answered. */
export class WebhookConnection implements RoomHolder {
  readonly peer: string;
  readonly #socket: Socket;
  isBusy = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.peer = socket.remoteAddress ?? "";
  }

  yieldRoom(): void {
    this.#socket.destroy();
  }
}

/**
 * Those that do nothing make way when there are too many: idle ones, and those whose request does not come to
 * its end.
 */
export class WebhookConnections {
  readonly #room: SharedRoom<WebhookConnection>;
  readonly #byPlace = new Map<string, WebhookConnection>();

  constructor(max: number) {
    this.#room = new SharedRoom(max);
  }

  /** A new one, which is closed at once when there is no room for it. */
  admit(socket: Socket): void {
    const connection = new WebhookConnection(socket);
    const place = placeOf(socket);
    socket.once("close", () => {
      this.#room.release(connection);
      if (this.#byPlace.get(place) === connection) this.#byPlace.delete(place);
    });
    this.#byPlace.set(place, connection);
    if (!this.#room.take(connection, 1)) connection.yieldRoom();
  }

  of(socket: Socket): WebhookConnection | undefined {
    return this.#byPlace.get(placeOf(socket));
  }

  /** Also those that have not even begun to speak TLS, which are none of HTTP's. */
  closeAll(): void {
    for (const each of this.#room.holders) each.yieldRoom();
  }
}

/** The socket of a TLS connection and that below it have the same. */
function placeOf({ remoteAddress = "", remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
