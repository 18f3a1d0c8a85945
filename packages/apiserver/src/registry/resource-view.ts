import { apiVersionOf, deepEqual, deepFreeze, type UnstructuredObject } from "@setpoint/apimachinery";
import { applyDefaults } from "@setpoint/schema";
import { pruneObject, refreshObject } from "./object-codec.ts";
import type { Waits } from "./waits.ts";
import type { ObjectConverter, ResourceDefinition } from "./resource-definition.ts";

/**
 * On a stored object: the mark of the view whose definition decoded it. It cannot be enumerated, so no copy and no encoding
 * has it. A weak table of these objects would cost the garbage collector more than all the rest of their writes.
 */
const decodedBy = Symbol("decodedBy");

interface Marked {
  readonly [decodedBy]?: object;
}

/** Objects in one call of a conversion webhook: its body stays far below what servers accept. */
const convertedAtOnceMax = 500;

/**
 * Stored objects as one version of one resource shows them. Built-in kinds in their storage version are shown as they are
 * stored; custom kinds are pruned and defaulted by the schema of now, and other versions are converted. What was made once
 * is kept as long as the stored object lives, so readers and watchers share it.
 */
export class ResourceView {
  readonly #definition: ResourceDefinition;
  readonly #apiVersion: string;
  readonly #isPlain: boolean;
  readonly #mark: object = {};
  readonly #shown = new WeakMap<UnstructuredObject, UnstructuredObject>();

  constructor(definition: ResourceDefinition) {
    this.#definition = definition;
    this.#apiVersion = apiVersionOf(definition);
    const isConverted = definition.version !== definition.storageVersion || definition.convert !== undefined;
    this.#isPlain = !isConverted && !definition.custom;
  }

  /** Whether somebody may have to be asked before objects can be shown; false for most kinds. */
  get mayAsk(): boolean {
    return this.#definition.converter !== undefined;
  }

  /**
   * Undefined when `show` can show all of them now. Otherwise somebody has to be asked for their conversion, in one call; when
   * the promise resolves, they can be shown.
   */
  ready(stored: readonly UnstructuredObject[]): Promise<void> | undefined {
    if (this.#definition.converter === undefined) return undefined;
    const missing = stored.filter((each) => this.#needsAsking(each) && !this.#shown.has(each));
    return missing.length === 0 ? undefined : this.#ask(missing);
  }

  #needsAsking(stored: UnstructuredObject): boolean {
    return this.#definition.converter !== undefined && stored.apiVersion !== this.#apiVersion;
  }

  async #ask(missing: readonly UnstructuredObject[]): Promise<void> {
    for (let start = 0; start < missing.length; start += convertedAtOnceMax) {
      const asked = missing.slice(start, start + convertedAtOnceMax);
      const sent = asked.map((each) => this.#completed(each));
      const converted = (await this.#definition.converter?.convert(sent, this.#apiVersion)) ?? [];
      for (const [index, object] of converted.entries()) {
        const stored = asked[index];
        if (stored !== undefined) this.#shown.set(stored, deepFreeze(pruneObject(this.#definition.schema, object)));
      }
    }
  }

  /** What needs asking and was not made `ready` is shown as it is stored, in the version that it names itself. */
  show(stored: UnstructuredObject): UnstructuredObject {
    if (this.#isPlain || (stored as Marked)[decodedBy] === this.#mark) return stored;
    let shown = this.#shown.get(stored);
    if (shown === undefined) {
      if (this.#needsAsking(stored)) return stored;
      shown = this.#convert(stored);
      this.#shown.set(stored, shown);
    }
    return shown;
  }

  /**
   * The form in which an object of this version is stored; takes over the object it is given, which this very definition has
   * decoded. In its storage version showing it again needs no work.
   */
  toStored(object: UnstructuredObject): UnstructuredObject | Promise<UnstructuredObject> {
    const { convert, converter, group, version, storageVersion, custom } = this.#definition;
    if (convert !== undefined) return convert.toStored(object);
    if (version !== storageVersion) {
      const apiVersion = apiVersionOf({ group, version: storageVersion });
      if (converter !== undefined) return this.#askForStored(converter, object, apiVersion);
      return this.#pruned({ ...object, apiVersion });
    }
    if (!custom || Object.isFrozen(object)) return object;
    return Object.defineProperty(object, decodedBy, { value: this.#mark, configurable: true });
  }

  async #askForStored(
    converter: ObjectConverter,
    object: UnstructuredObject,
    apiVersion: string,
  ): Promise<UnstructuredObject> {
    const [converted] = await converter.convert([object], apiVersion);
    return this.#pruned(converted ?? object);
  }

  /** Without what the version that it names does not know. */
  #pruned(object: UnstructuredObject): UnstructuredObject {
    const schema = this.#definition.versionSchemas?.get(object.apiVersion);
    return schema === undefined ? object : pruneObject(schema, object);
  }

  /** A stored object as its own version has it: defaults are those of the version in which it is stored. */
  #completed(stored: UnstructuredObject): UnstructuredObject {
    const schema = this.#definition.versionSchemas?.get(stored.apiVersion);
    if (schema === undefined) return stored;
    const object = pruneObject(schema, stored);
    applyDefaults(schema, object);
    return object;
  }

  #convert(stored: UnstructuredObject): UnstructuredObject {
    const { convert, custom } = this.#definition;
    const apiVersion = this.#apiVersion;
    if (custom && stored.apiVersion !== apiVersion) {
      const own = { ...this.#completed(stored), apiVersion };
      return deepFreeze(pruneObject(this.#definition.schema, own));
    }
    let object = convert === undefined ? stored : convert.fromStored(stored);
    if (object.apiVersion !== apiVersion) object = { ...object, apiVersion };
    if (custom) object = refreshObject(this.#definition, object);
    return deepEqual(object, stored) ? stored : deepFreeze(object);
  }
}

/** `show` after `ready`, in the steps of a write. */
export function* shownForm(view: ResourceView, stored: UnstructuredObject): Waits<UnstructuredObject> {
  const pending = view.ready([stored]);
  if (pending !== undefined) yield pending;
  return view.show(stored);
}

/** What a promise resolves to, in the steps of a write. */
export function* settled<T extends object>(promise: Promise<T>): Waits<T> {
  let value: T | undefined;
  while (value === undefined) {
    yield promise.then((found) => {
      value = found;
    });
  }
  return value;
}

/** `show` after `ready`, for readers. */
export function showReady(
  view: ResourceView,
  stored: UnstructuredObject,
): UnstructuredObject | Promise<UnstructuredObject> {
  const pending = view.ready([stored]);
  return pending === undefined ? view.show(stored) : pending.then(() => view.show(stored));
}
