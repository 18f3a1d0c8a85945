/** All children of an object as one set: applies the desired ones and deletes the others. */
import { groupResource, isApiError, isSetpointError, parseApiVersion, type KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { controllerOf, storeKey } from "../cache/store.ts";
import { errNotOwned, TerminalError } from "../errors.ts";
import { appliedAnnotation, isAppliedBy, withAppliedMark } from "../objects/applied-mark.ts";
import type { ChildWriter } from "./child-writer.ts";
import { namespaceOf, nameOf, placed, type Parent } from "./place-child.ts";
import { isWorthARun } from "../controller/predicate.ts";
import type { ApplyChildrenOptions, ChildUpdate, PruneOutcome } from "../controller/reconcile-context.ts";
import type { WritePorts } from "./write-ports.ts";
import type { RunReader } from "./run-reader.ts";

export class ChildSet {
  readonly #parent: Parent;
  readonly #ports: WritePorts;
  readonly #reader: RunReader;
  readonly #writer: ChildWriter;
  /** The desired children of this run, by group, kind, namespace and name. */
  readonly #wanted = new Set<string>();
  /** Whether this run has named all desired children, and deleted the others. */
  #isComplete = false;

  constructor(parent: Parent, ports: WritePorts, reader: RunReader, writer: ChildWriter) {
    this.#parent = parent;
    this.#ports = ports;
    this.#reader = reader;
    this.#writer = writer;
  }

  /**
   * Notes a child as desired in this run. A child noted after the prune would be deleted and recreated in
   * every run.
   */
  want(child: KubeObject): void {
    const { kind } = this.#ports.cache.ofObject(child);
    const id = idOf(child, namespaceOf(kind, child.metadata.namespace, this.#parent));
    if (this.#isComplete && !this.#wanted.has(id))
      throw new TerminalError(
        `Cannot apply ${child.kind} "${nameOf(child)}" after \`children.apply\` or \`children.prune\`: each run would delete it there and make it here; name all children in one set, or prune last`,
      );
    this.#wanted.add(id);
  }

  /**
   * Applies all children, also after a refusal: they do not depend on each other. Deletes only when all are
   * applied.
   */
  async apply(children: readonly KubeObject[], { update }: ApplyChildrenOptions = {}): Promise<PruneOutcome> {
    this.#refuseTwins(children);
    for (const child of children) this.want(child);
    // Chosen before the first write, so that children of this run are no candidates.
    const surplus = this.#surplus();
    const errors: Error[] = [];
    for (const child of children) await this.#applyOne(child, update?.(child) ?? "InPlace").catch(collect(errors));
    if (errors.length > 0) throw asOne(errors, children.length);
    return this.#delete(surplus);
  }

  prune(): Promise<PruneOutcome> {
    return this.#delete(this.#surplus());
  }

  /** Two children of the same name would overwrite each other in every run. */
  #refuseTwins(children: readonly KubeObject[]): void {
    const seen = new Set<string>();
    for (const child of children) {
      const { kind } = this.#ports.cache.ofObject(child);
      const id = idOf(child, namespaceOf(kind, child.metadata.namespace, this.#parent));
      if (seen.has(id))
        throw new TerminalError(`Cannot apply ${child.kind} "${child.metadata.name ?? ""}": the set contains it twice`);
      seen.add(id);
    }
  }

  async #applyOne(child: KubeObject, update: ChildUpdate): Promise<void> {
    const present = this.#presentOf(child);
    if (present === undefined || update === "InPlace") return void (await this.#writer.apply(child));
    // Another object's child carries the mark of this controller too; applying refuses what is not ours.
    const isOurs = controllerOf(present)?.uid === this.#parent.object.metadata.uid;
    const isMarked = isAppliedBy(present, this.#ports.definition.fieldManager);
    if (!isOurs || !isMarked) return void (await this.#writer.apply(child));
    if (update === "OnDelete" || present.metadata.deletionTimestamp !== undefined) return;
    // The mark tells what was applied, whatever others have added since; a comparison of fields might never
    // end.
    if (present.metadata.annotations?.[appliedAnnotation] === this.#markOf(child)) return;
    await this.#writer.delete(present);
  }

  #presentOf(child: KubeObject): Stored<KubeObject> | undefined {
    return this.#reader.get(this.#ports.cache.ofObject(child).kind, nameOf(child), child.metadata.namespace);
  }

  #markOf(child: KubeObject): string | undefined {
    const { kind } = this.#ports.cache.ofObject(child);
    const marked = withAppliedMark(placed(kind, child, true, this.#parent), this.#ports.definition.fieldManager);
    return marked.metadata.annotations?.[appliedAnnotation];
  }

  /**
   * Children that this controller applied earlier and that are no longer desired; children of other
   * controllers stay.
   */
  #surplus(): readonly Stored<KubeObject>[] {
    const { definition } = this.#ports;
    return definition.owns
      .flatMap((kind) => this.#reader.owned(kind))
      .filter((child) => isAppliedBy(child, definition.fieldManager) && child.metadata.deletionTimestamp === undefined)
      .filter((child) => !this.#wanted.has(idOf(child, child.metadata.namespace)));
  }

  /** Deletes nothing on a stale view: the server must still have the parent that this run was given. */
  async #delete(surplus: readonly Stored<KubeObject>[]): Promise<PruneOutcome> {
    this.#isComplete = true;
    if (surplus.length === 0) return { kind: "done", deleted: 0 };
    const { kind, object } = this.#parent;
    const { name, namespace, uid } = object.metadata;
    const now = await this.#reader.fresh(kind, name, namespace);
    if (now?.metadata.uid !== uid || this.#hasChanged(now)) {
      // The author's predicate may let the change pass by; what is left here is nobody else's to delete.
      if (now?.metadata.uid === uid) this.#ports.writes.leave(kind, now);
      return { kind: "postponed", reason: `${kind.kind} "${name}" has changed meanwhile` };
    }
    for (const child of surplus) await this.#writer.delete(child);
    return { kind: "done", deleted: surplus.length };
  }

  /**
   * Whether children may follow from it that this run does not know of. What the run itself has written to it
   * is known.
   */
  #hasChanged(now: Stored<KubeObject>): boolean {
    const { generation } = this.#parent.object.metadata;
    const seen = this.#reader.current();
    if (generation === undefined) return now.metadata.resourceVersion !== seen.metadata.resourceVersion;
    return now.metadata.generation !== generation || isWorthARun(seen, now);
  }
}

function idOf(object: KubeObject, namespace: string | undefined): string {
  const group = groupResource({ group: parseApiVersion(object.apiVersion).group, resource: object.kind });
  return `${group}/${storeKey({ namespace, name: object.metadata.name })}`;
}

/** A refusal of one child says nothing about the others; anything else ends the run. */
function collect(errors: Error[]): (error: unknown) => void {
  return (error) => {
    if (!isApiError(error) && !isSetpointError(error, errNotOwned)) throw error;
    errors.push(error);
  };
}

function asOne(errors: readonly Error[], count: number): Error | undefined {
  const [first] = errors;
  if (errors.length === 1) return first;
  const texts = errors.map(({ message }) => message);
  return new AggregateError(errors, `Cannot apply ${errors.length} of ${count} children: ${texts.join("; ")}`);
}
