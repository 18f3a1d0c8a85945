import { SetpointError } from "@setpoint/apimachinery";
import type { Client, KindRef } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { errSecretsUnbounded } from "../errors.ts";
import { CacheGauges } from "./cache-gauges.ts";
import { type CacheOptions, informerOptions, isUnboundedSecrets, settingsOf } from "./cache-options.ts";
import { Informer, type InformerOptions } from "./informer.ts";

/** Shares informers: one watch for a kind and selection, however many controllers use it. */
export class InformerFactory {
  readonly #client: Client;
  readonly #host: Host;
  readonly #options: CacheOptions;
  readonly #stopReporting: () => void;
  readonly #informers = new Map<string, Informer>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopper = new AbortController();
  #isStarted = false;

  constructor(client: Client, host: Host, options: CacheOptions = {}) {
    this.#client = client;
    this.#host = host;
    this.#options = options;
    const gauges = new CacheGauges(host.metrics);
    this.#stopReporting = host.metrics.onExpose(() => gauges.report(this.informers));
  }

  get informers(): readonly Informer[] {
    return [...this.#informers.values()];
  }

  /** The informer of this kind and selection; started if the factory is. */
  informer(kind: KindRef, asked: InformerOptions = {}): Informer {
    const options = informerOptions(this.#options, kind, asked);
    const id = idOf(kind, options);
    const known = this.#informers.get(id);
    if (known !== undefined) return known;
    if (isUnboundedSecrets(kind, options)) this.#checkSecrets();
    const informer = new Informer(this.#client, this.#host, kind, options);
    const { indexes = {} } = settingsOf(this.#options, kind, asked.namespace) ?? {};
    for (const [name, valuesOf] of Object.entries(indexes)) informer.store.addIndex(name, valuesOf);
    this.#informers.set(id, informer);
    if (this.#isStarted) this.#run(informer);
    return informer;
  }

  /** The informer of this kind with the factory's own selection, if one was requested. */
  find(kind: KindRef): Informer | undefined {
    return this.#informers.get(idOf(kind, informerOptions(this.#options, kind, {})));
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const informer of this.#informers.values()) this.#run(informer);
  }

  /** Resolves when every informer that is known now has a complete list. */
  async synced(): Promise<void> {
    await Promise.all(this.informers.map((informer) => informer.synced));
  }

  async stop(): Promise<void> {
    this.#stopReporting();
    this.#stopper.abort(new Error("the informers have been stopped"));
    await Promise.all(this.#running);
  }

  #checkSecrets(): void {
    const { unboundedSecrets = "warn" } = this.#options;
    if (unboundedSecrets === "allow") return;
    const message =
      "this keeps every Secret of the cluster in this process; set a namespace, a selector or metadataOnly";
    if (unboundedSecrets === "refuse") throw new SetpointError(errSecretsUnbounded, `Cannot cache Secrets: ${message}`);
    this.#host.log.warn("Caching all Secrets", { why: message });
  }

  #run(informer: Informer): void {
    if (this.#stopper.signal.aborted) return;
    const running = informer.run(this.#stopper.signal).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }
}

function idOf(
  kind: KindRef,
  { namespace, labelSelector, fieldSelector, metadataOnly, transform }: InformerOptions,
): string {
  const selection = [namespace, labelSelector, fieldSelector, metadataOnly].map((each) => String(each ?? ""));
  // Informers with a transform of their own hold other objects, so they are shared by the function's identity
  // alone.
  return [
    kind.group,
    kind.version,
    kind.plural,
    ...selection,
    transform === undefined ? "" : identityOf(transform),
  ].join("|");
}

const identities = new WeakMap<object, string>();
let identityCount = 0;

function identityOf(value: object): string {
  const known = identities.get(value);
  if (known !== undefined) return known;
  const identity = String(++identityCount);
  identities.set(value, identity);
  return identity;
}
