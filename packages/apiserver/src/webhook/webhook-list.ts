/** The webhooks of all stored configurations of one kind, compiled, in call order. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { Storage } from "../storage/storage.ts";
import { compileConditions, type MatchConditions } from "./match-conditions.ts";
import { type Webhook, webhooksOf } from "../registry/admissionregistration/webhook-configuration.ts";

export interface CompiledWebhook {
  readonly webhook: Webhook;
  readonly conditions: MatchConditions | undefined;
}

export class WebhookList {
  readonly #byConfiguration = new Map<string, readonly CompiledWebhook[]>();
  readonly #watch: { cancel(): void };
  #all: readonly CompiledWebhook[] = [];

  /** Follows the storage from now on; a configuration takes effect as soon as it is stored. */
  constructor(storage: Storage, resource: string) {
    const prefix = `/admissionregistration.k8s.io/${resource}`;
    const { revision, objects } = storage.list(prefix);
    for (const object of objects) this.#put(object);
    this.#watch = storage.watch(prefix, revision, ({ kind, object }) => {
      if (kind === "put") this.#put(object);
      else this.#remove(object);
    });
  }

  /** Configurations in the order of their names, webhooks as they are listed. */
  get all(): readonly CompiledWebhook[] {
    return this.#all;
  }

  stop(): void {
    this.#watch.cancel();
  }

  #put(object: UnstructuredObject): void {
    const compiled = webhooksOf(object).map((webhook) => ({
      webhook,
      conditions: compileConditions(webhook.matchConditions),
    }));
    this.#byConfiguration.set(object.metadata.name ?? "", compiled);
    this.#sort();
  }

  #remove(object: UnstructuredObject): void {
    this.#byConfiguration.delete(object.metadata.name ?? "");
    this.#sort();
  }

  #sort(): void {
    const names = [...this.#byConfiguration.keys()].toSorted();
    this.#all = names.flatMap((name) => this.#byConfiguration.get(name) ?? []);
  }
}
