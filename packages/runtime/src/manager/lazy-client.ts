import type { Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";

/**
 * Clients that are made when they are first used: a run that writes nothing must not pay for a client of its own. `model` is
 * any client; its verbs are those that the lazy ones have.
 */
export function lazyClients(model: Client, create: (transport: Transport) => Client): (transport: Transport) => Client {
  class LazyClient {
    readonly transport: Transport;
    #client: Client | undefined;

    constructor(transport: Transport) {
      this.transport = transport;
    }

    open(): Client {
      return (this.#client ??= create(this.transport));
    }
  }
  for (const verb of Object.keys(model)) {
    if (verb === "transport") continue;
    Object.defineProperty(LazyClient.prototype, verb, {
      get(this: LazyClient): unknown {
        return this.open()[verb as keyof Client];
      },
    });
  }
  // Every verb of a client has a getter of its name above.
  return (transport) => new LazyClient(transport) as unknown as Client;
}
