/**
 * Serves the resources of stored CustomResourceDefinitions and keeps the status of these: names, conditions,
 * the clean-up of a deleted one. It follows the storage synchronously, so a CRD is served before its creator
 * has the answer.
 */
import { encodeJson, deepEqual, type UnstructuredObject } from "@setpoint/apimachinery";
import type { RuleCompiler } from "@setpoint/schema";
import { type Clock, type Logger, timestamp } from "@setpoint/host";
import type { Registry } from "../registry.ts";
import type { ObjectConverter } from "../resource-definition.ts";
import type { Storage, StorageEvent } from "../../storage/storage.ts";
import {
  cleanupFinalizer,
  type Crd,
  type CrdStatus,
  crdPrefix,
  isConditionTrue,
  parseCrd,
  withCondition,
} from "./crd-object.ts";
import { decideNames } from "./crd-naming.ts";
import { customDefinitions, instancePrefix } from "./custom-definition.ts";
import { deleteInstances } from "./instance-cleanup.ts";
import type { WebhookClientConfig } from "../webhook-client-config.ts";

/** The registry that gets the definitions of CRDs, and what they are compiled with. */
export interface CustomResourcesOptions {
  readonly storage: Storage;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
  /** Understands validation rules; without it they are not checked. */
  readonly compileRules?: RuleCompiler;
  /** Calls conversion webhooks; without it, versions differ only in their name. */
  readonly convertBy?: (config: WebhookClientConfig) => ObjectConverter;
  /** Called when it stops, to end all waits for webhooks. */
  readonly onStop?: () => void;
  /**
   * Called after the definitions of a CRD were replaced or removed: open watches of its resource have to end,
   * so that clients list again under the new schema.
   */
  readonly onReplaced?: (resource: { readonly group: string; readonly resource: string }) => void;
}

interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

/** The state of one CRD. */
interface Served {
  readonly crd: Crd;
  readonly isServed: boolean;
}

/**
 * Serves the resources of all stored CRDs. It follows their changes, writes their status, and deletes the
 * instances of a deleted CRD before it removes the CRD's own finalizer.
 */
export class CustomResources {
  readonly #options: CustomResourcesOptions;
  readonly #served = new Map<string, Served>();
  readonly #cleaning = new Map<string, { cancel(): void }>();
  readonly #busy = new Set<Promise<void>>();
  #watch: { cancel(): void } | undefined;
  #stopped = false;

  constructor(options: CustomResourcesOptions) {
    this.#options = options;
  }

  /** Serves what is stored and follows what comes. When it returns, every existing CRD is served. */
  start(): void {
    const { storage } = this.#options;
    const { objects, revision } = storage.list(crdPrefix);
    for (const object of objects) this.#put(object);
    this.#watch = storage.watch(crdPrefix, revision, (event) => this.#onEvent(event));
  }

  /** Stops following the storage; resolves when its writes in flight have ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#options.onStop?.();
    this.#watch?.cancel();
    for (const cleaning of this.#cleaning.values()) cleaning.cancel();
    this.#cleaning.clear();
    await this.#settled();
  }

  /** Resolves when no status write or clean-up is running. */
  async #settled(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy);
  }

  #onEvent(event: StorageEvent): void {
    if (event.kind === "put") this.#put(event.object);
    else this.#remove(event.object);
  }

  #put(object: UnstructuredObject): void {
    const name = object.metadata.name ?? "";
    const crd = parseCrd(object);
    const decided = this.#decide(name, crd);
    this.#serve(name, { ...crd, status: { ...crd.status, ...decided } });
    if (statusChanges(crd.status, decided)) this.#background(name, () => this.#writeNames(name));
    if (crd.metadata.deletionTimestamp !== undefined) this.#startCleaning(name, crd);
  }

  #decide(name: string, crd: Crd): Pick<CrdStatus, "acceptedNames" | "conditions"> {
    const others = [...this.#served].filter(([other]) => other !== name).map(([, served]) => served.crd);
    return decideNames(crd, others, timestamp(this.#options.clock));
  }

  #serve(name: string, crd: Crd): void {
    const before = this.#served.get(name);
    const isServed = isConditionTrue(crd, "Established");
    this.#served.set(name, { crd, isServed });
    if (before?.isServed === isServed && isSameDefinition(before.crd, crd)) return;
    const { compileRules, convertBy } = this.#options;
    const options = {
      isTerminating: () => this.#isTerminating(name),
      ...(compileRules === undefined ? {} : { compileRules }),
      ...(convertBy === undefined ? {} : { convertBy }),
    };
    const definitions = isServed ? customDefinitions(crd, options) : [];
    if (before === undefined && definitions.length === 0) return;
    this.#options.registry.setCustom(name, definitions);
    if (before !== undefined) this.#replaced(crd);
  }

  #replaced({ spec }: Crd): void {
    this.#options.onReplaced?.({ group: spec.group, resource: spec.names.plural });
  }

  /** Whether there still is a CRD of a resource that was served when a request came. */
  serves({ group, resource }: ResourceName): boolean {
    return this.#served.has(`${resource}.${group}`);
  }

  /** Whether objects may still be created in it. */
  takesObjects(of: ResourceName): boolean {
    return this.serves(of) && !this.#isTerminating(`${of.resource}.${of.group}`);
  }

  #isTerminating(name: string): boolean {
    return this.#served.get(name)?.crd.metadata.deletionTimestamp !== undefined;
  }

  #remove(object: UnstructuredObject): void {
    const name = object.metadata.name ?? "";
    const served = this.#served.get(name);
    this.#served.delete(name);
    this.#cleaning.get(name)?.cancel();
    this.#cleaning.delete(name);
    this.#options.registry.setCustom(name, []);
    if (served === undefined) return;
    this.#replaced(served.crd);
    this.#reconsider(served.crd.spec.group);
  }

  /** Names became free: a CRD that was refused one may have it now. */
  #reconsider(group: string): void {
    for (const [name, { crd }] of this.#served) {
      if (crd.spec.group === group && !isConditionTrue(crd, "NamesAccepted"))
        this.#background(name, () => this.#writeNames(name));
    }
  }

  async #writeNames(name: string): Promise<void> {
    await this.#update(name, (crd) => this.#decide(name, crd));
  }

  /** Merges into the status of the newest state, and writes nothing when that changes nothing. */
  async #update(name: string, change: (crd: Crd) => CrdStatus | undefined): Promise<void> {
    await this.#options.storage.write({ prefix: crdPrefix, path: name }, (current) => {
      if (current === undefined) return "keep";
      const crd = parseCrd(current);
      const status = change(crd);
      if (status === undefined || !statusChanges(crd.status, status)) return "keep";
      return { ...current, status: { ...status, ...rest(crd.status, status) } };
    });
  }

  /**
   * Runs outside of the storage's event, because a write from within one would reach later watchers in the
   * wrong order.
   */
  #background(name: string, work: () => Promise<void>): void {
    if (this.#stopped) return;
    const running = Promise.resolve()
      .then(() => (this.#stopped ? undefined : work()))
      .catch((error: unknown) => {
        if (!this.#stopped) this.#options.log.error("Cannot update a CustomResourceDefinition", { crd: name, error });
      });
    this.#busy.add(running);
    void running.then(() => this.#busy.delete(running));
  }

  #startCleaning(name: string, crd: Crd): void {
    if (this.#cleaning.has(name) || !(crd.metadata.finalizers ?? []).includes(cleanupFinalizer)) return;
    const { storage } = this.#options;
    const prefix = instancePrefix(crd);
    // The write that removes an instance's last finalizer deletes the instance; each deletion may be the last
    // one.
    const watch = storage.watch(prefix, storage.revision, (event) => {
      if (event.kind === "delete") this.#background(name, () => this.#finishWhenEmpty(name, prefix));
    });
    this.#cleaning.set(name, watch);
    this.#background(name, () => this.#clean(name, prefix));
  }

  async #clean(name: string, prefix: string): Promise<void> {
    const { storage, clock } = this.#options;
    await this.#terminating(name, "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    await deleteInstances(storage, prefix, clock);
    await this.#finishWhenEmpty(name, prefix);
  }

  #terminating(name: string, status: "True" | "False", reason: string, message: string): Promise<void> {
    const now = timestamp(this.#options.clock);
    return this.#update(name, (crd) => ({
      conditions: withCondition(crd.status?.conditions ?? [], { type: "Terminating", status, reason, message }, now),
    }));
  }

  async #finishWhenEmpty(name: string, prefix: string): Promise<void> {
    const { storage } = this.#options;
    if (!this.#cleaning.has(name) || storage.list(prefix).objects.length > 0) return;
    this.#cleaning.get(name)?.cancel();
    await this.#terminating(name, "False", "InstanceDeletionCompleted", "removed all instances");
    await storage.write({ prefix: crdPrefix, path: name }, (current) => {
      if (current === undefined) return "keep";
      const finalizers = (current.metadata.finalizers ?? []).filter((each) => each !== cleanupFinalizer);
      return finalizers.length === 0 ? "delete" : { ...current, metadata: { ...current.metadata, finalizers } };
    });
  }
}

/** Whether both CRDs give the same definitions; ignores the rest of their status. */
function isSameDefinition(a: Crd, b: Crd): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    deepEqual(a.spec, b.spec) &&
    deepEqual(a.status?.acceptedNames, b.status?.acceptedNames)
  );
}

function statusChanges(status: CrdStatus | undefined, change: CrdStatus): boolean {
  const keys = Object.keys(change) as (keyof CrdStatus)[];
  return keys.some((key) => encodeJson(status?.[key]) !== encodeJson(change[key]));
}

/** The fields of the status besides the changed ones. */
function rest(status: CrdStatus | undefined, change: CrdStatus): Record<string, unknown> {
  return Object.fromEntries(Object.entries(status ?? {}).filter(([key]) => !(key in change)));
}
