import type { Transport } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";

/** A client that is made when it is first used: a run that writes nothing must not pay for one of its own. */
export function lazyClient(transport: Transport, create: (transport: Transport) => Client): Client {
  // Every verb of a client has a getter of its name below.
  return new LazyClient(transport, create) as unknown as Client;
}

class LazyClient {
  readonly transport: Transport;
  readonly #create: (transport: Transport) => Client;
  #client: Client | undefined;

  constructor(transport: Transport, create: (transport: Transport) => Client) {
    this.transport = transport;
    this.#create = create;
  }

  open(): Client {
    return (this.#client ??= this.#create(this.transport));
  }
}

/** All of them, as the compiler checks. */
const verbs: Readonly<Record<Exclude<keyof Client, "transport">, true>> = {
  raw: true,
  request: true,
  get: true,
  list: true,
  listAll: true,
  watch: true,
  create: true,
  update: true,
  updateStatus: true,
  patch: true,
  apply: true,
  applyStatus: true,
  delete: true,
  deleteCollection: true,
  scale: true,
  discover: true,
};

for (const verb of Object.keys(verbs)) {
  Object.defineProperty(LazyClient.prototype, verb, {
    get(this: LazyClient): unknown {
      return this.open()[verb as keyof Client];
    },
  });
}
