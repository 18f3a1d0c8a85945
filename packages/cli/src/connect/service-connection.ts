/** Opens connections to a port of a Service, each through the API server to a ready pod. */
import type { Duplex } from "node:stream";
import { EndpointSlice } from "@setpoint/api";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import { connectToPod, type HttpConnection } from "@setpoint/client/node";
import { type Clock, sleep } from "@setpoint/host";
import { readyTargets, type ServicePort, serviceUnreachable, type Target } from "./service-target.ts";

/** As long as an ordinary client waits for a connection; a pod that is replaced is ready again by then. */
const waitMsMax = 15_000;
const retryMs = 500;

export interface ServiceConnectionOptions {
  readonly client: Client;
  readonly connection: HttpConnection;
  readonly clock: Clock;
  readonly namespace: string;
  readonly service: string;
  readonly port: ServicePort;
  /** Told what changed, a line each. */
  readonly say: (line: string) => void;
}

/** Stays with one pod as long as that is ready. */
export class ServiceConnection {
  readonly #options: ServiceConnectionOptions;
  #current: Target | undefined;
  /** The pod to which the latest connection failed: another one is better. */
  #failed: string | undefined;

  constructor(options: ServiceConnectionOptions) {
    this.#options = options;
  }

  /** The pod of the next connection; undefined while none is ready. */
  async target(): Promise<Target | undefined> {
    const { client, namespace, service, port } = this.#options;
    const labelSelector = `kubernetes.io/service-name=${service}`;
    const { items } = await client.listAll(EndpointSlice, { namespace, labelSelector });
    const ready = readyTargets(service, port, items);
    const kept = ready.find(({ pod }) => pod === this.#current?.pod && pod !== this.#failed);
    return this.#use(kept ?? ready.find(({ pod }) => pod !== this.#failed) ?? ready[0]);
  }

  /** Waits a while for a ready pod. Throws the last failure. */
  async open(signal: AbortSignal): Promise<Duplex> {
    const { clock, service } = this.#options;
    const deadline = clock.monotonic() + waitMsMax;
    for (;;) {
      try {
        return await this.#attempt(signal);
      } catch (error) {
        if (signal.aborted || clock.monotonic() > deadline)
          throw new SetpointError(serviceUnreachable, `Cannot connect to Service "${service}": ${messageOf(error)}`, {
            cause: error,
          });
      }
      await sleep(clock, retryMs, signal);
    }
  }

  async #attempt(signal: AbortSignal): Promise<Duplex> {
    const { connection, namespace } = this.#options;
    const target = await this.target();
    if (target === undefined) throw new SetpointError(serviceUnreachable, "none of its pods is ready");
    try {
      const stream = await connectToPod({ connection, namespace, ...target, signal });
      this.#failed = undefined;
      // Only after the connection is open does the node say that nothing listens.
      stream.once("error", () => (this.#failed = target.pod));
      return stream;
    } catch (error) {
      this.#failed = target.pod;
      throw error;
    }
  }

  #use(next: Target | undefined): Target | undefined {
    const before = this.#current;
    this.#current = next ?? before;
    if (next !== undefined && before !== undefined && next.pod !== before.pod)
      this.#options.say(`Pod ${before.pod} does not serve any more: new connections go to pod ${next.pod}`);
    return next;
  }
}
