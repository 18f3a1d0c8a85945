import type { Transport } from "@setpoint/apimachinery";
import { type Client, createClient } from "@setpoint/client";
import type { Host } from "@setpoint/host";

/**
 * A client whose informers keep objects decoded. A node caches few objects and reads all of them at each
 * change, so bytes would be decoded again each time.
 */
export function createNodeClient(transport: Transport, host: Host): Client {
  return createClient({ send: (request, signal) => transport.send(request, signal) }, host);
}
