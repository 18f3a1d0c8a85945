/**
 * Injects the faults that strike between two steps: in the lease, the process, and what people and machines
 * do to the cluster.
 */
import { Lease, Namespace, PersistentVolumeClaim } from "@setpoint/api";
import { controllerOf, isInvalid, isNotFound, type KubeObject, type LabelSelectorObject } from "@setpoint/apimachinery";
import type { Storage } from "@setpoint/apiserver";
import type { Client, KindRef, Stored } from "@setpoint/client";
import { type Host, microTimestamp, sleep } from "@setpoint/host";
import { type ControllerDefinition, storeKey } from "@setpoint/runtime";
import { prefixOf } from "../storage-prefix.ts";
import { childKindsOf, isChild, managersOf } from "./child-kinds.ts";
import type { NodeModel } from "../node-model.ts";
import type { WorldModel } from "../program-model.ts";
import type { SimulatedOperator } from "../simulated-operator.ts";
import { operatorNamespace } from "../users.ts";
import { foreignKey } from "./foreign-key.ts";
import type { ChildChoice, Fault } from "./fault.ts";
import type { StepFault, FaultInjector } from "./fault-board.ts";
import { specEdit } from "./spec-edit.ts";

export interface StrikerOptions {
  readonly client: Client;
  readonly storage: Pick<Storage, "write">;
  readonly host: Host;
  readonly nodes: NodeModel;
  readonly models: readonly WorldModel[];
  readonly operators: readonly SimulatedOperator[];
  readonly nodeNames: readonly string[];
  readonly controllers: readonly ControllerDefinition[];
}

type FaultOf<K extends Fault["kind"]> = Extract<Fault, { readonly kind: K }>;

const somebodyElse = "somebody-else";
/** How often a client that waits for a deletion polls, and for how long at most. */
const goneLookMs = 100;
const goneLooksMax = 600;

export class WorldFaultInjector implements FaultInjector {
  readonly #options: StrikerOptions;
  #busy = 0;
  #surprisedMs = -Infinity;
  #hasForeignItems = false;

  readonly #kinds: readonly KindRef<KubeObject>[];
  readonly #owned: readonly KindRef<KubeObject>[];
  readonly #managers: ReadonlySet<string>;

  constructor(options: StrikerOptions) {
    this.#options = options;
    this.#kinds = [...new Set(options.controllers.map(({ kind }) => kind))];
    this.#owned = childKindsOf(options.controllers);
    this.#managers = managersOf(options.controllers);
  }

  /** Whether something that was begun is still being done. */
  get isBusy(): boolean {
    return this.#busy > 0;
  }

  /** Whether a person has added an item to a list of a child, which an apply leaves there. */
  get hasForeignItems(): boolean {
    return this.#hasForeignItems;
  }

  strike(fault: StepFault): void {
    this.#busy++;
    void this.#do(fault)
      .catch((error: unknown) => this.#options.host.log.warn("Fault could not be done", { fault: fault.kind, error }))
      .finally(() => this.#busy--);
  }

  async #do(fault: StepFault): Promise<void> {
    const { host, operators } = this.#options;
    const struck = "by" in fault.at ? operators.filter(({ group }) => isBy(fault, group)) : operators;
    switch (fault.kind) {
      case "D1":
        return this.#takeLeases(fault);
      case "D2":
        for (const operator of struck) operator.slowLeases(fault.delayMs, fault.forMs);
        return;
      case "D3":
        for (const operator of struck) operator.pause(fault.forMs);
        return sleep(host.clock, fault.forMs);
      case "D4":
        for (const operator of struck) operator.jumpClock(fault.byMs);
        return;
      case "E1":
        return this.#deleteChild(fault.child);
      case "E2":
        return this.#editChild(fault);
      case "E3":
        return this.#removeByForce();
      case "E4":
        return this.#terminateNamespace();
      case "E6":
        return this.#flip(fault);
      case "E8":
        return this.#killPod(fault.rank);
      case "E9":
        return this.#loseNode(fault);
      case "E10":
        return this.#loseClaim(fault.rank);
      case "E11":
        return this.#replaceRead(fault);
    }
  }

  async #takeLeases({ forMs }: FaultOf<"D1">): Promise<void> {
    const { client, host, operators } = this.#options;
    const leaseDurationSeconds = Math.ceil(forMs / 1_000);
    for (const { group } of operators) {
      const spec = {
        holderIdentity: somebodyElse,
        leaseDurationSeconds,
        renewTime: microTimestamp(host.clock),
        acquireTime: microTimestamp(host.clock),
      };
      await client.patch(Lease, { name: group, namespace: operatorNamespace }, { spec }).catch(unlessNotFound);
    }
  }

  async #deleteChild({ resource, rank }: ChildChoice): Promise<void> {
    const child = await this.#child(resource, rank);
    if (child === undefined) return;
    this.#forgive(child.kind === "Pod" ? child.metadata.name : undefined, child.kind);
    if (child.kind === "Pod") this.#surprise();
    const kind = this.#kindOf(resource);
    // As kubectl does: the server would leave the pods of a Job.
    const options = { propagationPolicy: "Background" } as const;
    if (kind !== undefined) await this.#options.client.delete(kind, keyOf(child), options).catch(unlessNotFound);
  }

  async #editChild({ child: choice, own, of }: FaultOf<"E2">): Promise<void> {
    const kind = this.#kindOf(choice.resource);
    const child = await this.#child(choice.resource, choice.rank);
    if (kind === undefined || child === undefined) return;
    if (of === "spec") {
      const edit = specEdit(child, this.#managers, choice.rank);
      // What cannot be edited the server refuses, and nothing has happened.
      if (edit === undefined) return;
      const edited = await this.#options.client.patch(kind, keyOf(child), edit.patch).catch(unlessRefused);
      this.#hasForeignItems ||= edit.addsItem && edited !== undefined;
      return;
    }
    const selected = await this.#selectedLabels(child);
    const [label] = Object.keys(child.metadata.labels ?? {})
      .filter((each) => !selected.has(each))
      .toSorted();
    const change =
      own && label !== undefined ? { labels: { [label]: "edited" } } : { labels: { [foreignKey]: "mine" } };
    const annotations = { [foreignKey]: "a person wrote this" };
    await this.#options.client
      .patch(kind, keyOf(child), { metadata: own ? change : { ...change, annotations } })
      .catch(unlessNotFound);
  }

  /**
   * The labels by which its controller selects this child. Without them Kubernetes' own controllers release a
   * child, which then stays for ever: no edit that ends as if it had not been.
   */
  async #selectedLabels(child: Stored<KubeObject>): Promise<ReadonlySet<string>> {
    const owner = controllerOf(child);
    const kind = this.#kinds.find((each) => each.kind === owner?.kind);
    if (owner === undefined || kind === undefined) return new Set();
    const { namespace } = child.metadata;
    const key = namespace === undefined ? { name: owner.name } : { name: owner.name, namespace };
    const parent = await this.#options.client.get<KubeObject>(kind, key).catch(unlessNotFound);
    const { selector } = parent === undefined ? {} : (specOf(parent) as { readonly selector?: LabelSelectorObject });
    return new Set(Object.keys(selector?.matchLabels ?? {}));
  }

  async #removeByForce(): Promise<void> {
    const { client } = this.#options;
    for (const { kind, object } of await this.#parents()) {
      this.#forgive(undefined, kind.kind);
      await client.delete(kind, keyOf(object)).catch(unlessNotFound);
      await client.patch(kind, keyOf(object), { metadata: { finalizers: null } }).catch(unlessNotFound);
      await this.#gone(kind, object);
      await client.create(kind, again(object));
    }
  }

  async #terminateNamespace(): Promise<void> {
    const { client } = this.#options;
    const parents = (await this.#parents()).filter(({ object }) => object.metadata.namespace !== undefined);
    const name = parents[0]?.object.metadata.namespace;
    if (name === undefined || name === "default") return this.#removeByForce();
    this.#forgive(undefined, "Namespace");
    await client.delete(Namespace, { name });
    await this.#gone(Namespace, Namespace({ name }));
    await client.create(Namespace, Namespace({ name }));
    for (const { kind, object } of parents) await client.create(kind, again(object));
  }

  async #flip({ patch, backMs }: FaultOf<"E6">): Promise<void> {
    const { client, host } = this.#options;
    const before = await this.#parents();
    for (const { kind, object } of before)
      await client.patch(kind, keyOf(object), { spec: patch }).catch(() => undefined);
    await sleep(host.clock, backMs);
    for (const { kind, object } of before)
      await client.patch(kind, keyOf(object), { spec: backTo(specOf(object), patch) }).catch(() => undefined);
  }

  async #killPod(rank: number): Promise<void> {
    const pod = await this.#child("pods", rank);
    const { nodes } = this.#options;
    this.#surprise();
    if (pod !== undefined && nodes.runs(keyOf(pod))) nodes.kill(keyOf(pod));
  }

  async #loseNode({ rank, backMs }: FaultOf<"E9">): Promise<void> {
    const { host, nodes, nodeNames } = this.#options;
    const name = nodeNames[rank % nodeNames.length];
    if (name === undefined) return;
    this.#surprise();
    nodes.failNode(name, "off");
    if (backMs === undefined) return;
    await sleep(host.clock, backMs);
    await nodes.recoverNode(name);
  }

  async #loseClaim(rank: number): Promise<void> {
    const { client, nodes } = this.#options;
    const claim = await this.#child("persistentvolumeclaims", rank);
    if (claim === undefined) return;
    this.#surprise();
    nodes.loseVolume(claim.metadata.uid);
    // Without its finalizer, because nobody waits for the pods of a lost disk.
    await client.patch(PersistentVolumeClaim, keyOf(claim), { metadata: { finalizers: null } }).catch(unlessNotFound);
    await client.delete(PersistentVolumeClaim, keyOf(claim)).catch(unlessNotFound);
  }

  async #replaceRead({ child: { resource, rank }, forMs }: FaultOf<"E11">): Promise<void> {
    const { host, operators, storage } = this.#options;
    const kind = this.#kindOf(resource);
    const isReplaceable = (each: KubeObject): boolean => !this.#isChild(each) && each.metadata.finalizers === undefined;
    const found = kind === undefined ? [] : await this.#objects(kind, isReplaceable);
    const object = found[rank % found.length];
    if (kind === undefined || object === undefined) return;
    const key = { prefix: prefixOf(kind), path: storeKey(object.metadata) };
    for (const operator of operators) operator.holdWatchesAfterDeletion(resource, forMs);
    // Both at one moment, so that no request finds the server without the object: only the caches are.
    const uid = host.random.uuid();
    const writes = [
      storage.write(key, () => "delete"),
      storage.write(key, () => ({ ...object, metadata: { ...object.metadata, uid } })),
    ];
    await Promise.all(writes);
    await sleep(host.clock, forMs);
  }

  /** The child of this rank among those that have a controller, or were written by one. */
  async #child(resource: string, rank: number): Promise<Stored<KubeObject> | undefined> {
    const kind = this.#kindOf(resource);
    if (kind === undefined) return undefined;
    const children = await this.#objects(kind, (each) => this.#isChild(each));
    return children[rank % children.length];
  }

  async #objects(
    kind: KindRef<KubeObject>,
    isMeant: (object: Stored<KubeObject>) => boolean,
  ): Promise<readonly Stored<KubeObject>[]> {
    const { items } = await this.#options.client.listAll<KubeObject>(kind);
    return items.filter(isMeant).sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  }

  #isChild(object: KubeObject): boolean {
    return isChild(object, this.#managers);
  }

  async #parents(): Promise<readonly { readonly kind: KindRef<KubeObject>; readonly object: Stored<KubeObject> }[]> {
    const parents = [];
    for (const kind of this.#kinds) {
      const { items } = await this.#options.client.listAll<KubeObject>(kind);
      parents.push(...items.map((object) => ({ kind, object })));
    }
    return parents;
  }

  async #gone(kind: KindRef, object: KubeObject): Promise<void> {
    const { client, host } = this.#options;
    const key = keyOf(object);
    for (let look = 0; look < goneLooksMax; look++) {
      const isGone = await client.get(kind, key).then(
        () => false,
        (error: unknown) => isNotFound(error),
      );
      if (isGone) return;
      await sleep(host.clock, goneLookMs);
    }
  }

  #kindOf(resource: string): KindRef<KubeObject> | undefined {
    return [...this.#owned, ...this.#kinds].find(({ plural }) => plural === resource);
  }

  /** A client that sent it before a process was stopped could not know of that. */
  late(sentMs: number): void {
    if (this.#surprisedMs >= sentMs) this.#surprise();
  }

  /** Who stops another process within the same milliseconds cannot know. */
  #surprise(): void {
    this.#surprisedMs = this.#options.host.clock.monotonic();
    for (const model of this.#options.models) model.surprised?.();
  }

  /** What people do is not the operator's fault: models do not hold it against it. */
  #forgive(podName: string | undefined, kind: string): void {
    if (kind !== "Pod" && !this.#kinds.some((each) => each.kind === kind) && kind !== "Namespace") return;
    for (const model of this.#options.models) model.forgive?.(podName);
  }
}

function isBy({ at }: StepFault, group: string): boolean {
  return "by" in at && (at.by === group || at.by.startsWith(`${group}/`));
}

function keyOf({ metadata: { name = "", namespace } }: KubeObject): { name: string; namespace?: string } {
  return namespace === undefined ? { name } : { name, namespace };
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

function unlessRefused(error: unknown): void {
  if (!isInvalid(error)) unlessNotFound(error);
}

/** The object as its user wrote it. */
function again(object: Stored<KubeObject>): KubeObject {
  const { name, namespace, labels, annotations } = object.metadata;
  const { status: _status, ...rest } = object as Stored<KubeObject> & { readonly status?: unknown };
  const metadata = {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
  };
  return { ...rest, metadata };
}

function specOf(object: KubeObject): Readonly<Record<string, unknown>> {
  return (object as { readonly spec?: Readonly<Record<string, unknown>> }).spec ?? {};
}

/** The merge patch that undoes another one. */
function backTo(
  before: Readonly<Record<string, unknown>>,
  patch: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(Object.keys(patch).map((field) => [field, before[field] ?? null]));
}
