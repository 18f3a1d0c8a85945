import { apiVersionOf, cloneJson, deepEqual, deepFreeze, type UnstructuredObject } from "@setpoint/apimachinery";
import { refreshObject } from "./object-codec.ts";
import type { ResourceDefinition } from "./resource-definition.ts";

/**
 * On a stored object: the mark of the view whose definition decoded it. It cannot be enumerated, so no copy and no encoding
 * has it. A weak table of these objects would cost the garbage collector more than all the rest of their writes.
 */
const decodedBy = Symbol("decodedBy");

interface Marked {
  readonly [decodedBy]?: object;
}

/**
 * Stored objects as one version of one resource shows them. Built-in kinds in their storage version are shown as they are
 * stored; custom kinds are pruned and defaulted by the schema of now, and other versions are converted. What was made once
 * is kept as long as the stored object lives, so readers and watchers share it.
 */
export class ResourceView {
  readonly #definition: ResourceDefinition;
  readonly #isPlain: boolean;
  readonly #mark: object = {};
  readonly #shown = new WeakMap<UnstructuredObject, UnstructuredObject>();

  constructor(definition: ResourceDefinition) {
    this.#definition = definition;
    const isConverted = definition.version !== definition.storageVersion || definition.convert !== undefined;
    this.#isPlain = !isConverted && !definition.custom;
  }

  show(stored: UnstructuredObject): UnstructuredObject {
    if (this.#isPlain || (stored as Marked)[decodedBy] === this.#mark) return stored;
    let shown = this.#shown.get(stored);
    if (shown === undefined) {
      shown = this.#convert(stored);
      this.#shown.set(stored, shown);
    }
    return shown;
  }

  /**
   * The form in which an object of this version is stored; takes over the object it is given, which this very definition has
   * decoded. In its storage version showing it again needs no work.
   */
  toStored(object: UnstructuredObject): UnstructuredObject {
    const { convert, group, version, storageVersion, custom } = this.#definition;
    if (convert !== undefined) return convert.toStored(object);
    if (version !== storageVersion) return { ...object, apiVersion: apiVersionOf({ group, version: storageVersion }) };
    if (!custom || Object.isFrozen(object)) return object;
    return Object.defineProperty(object, decodedBy, { value: this.#mark, configurable: true });
  }

  #convert(stored: UnstructuredObject): UnstructuredObject {
    const { convert, group, version, custom } = this.#definition;
    const apiVersion = apiVersionOf({ group, version });
    let object = convert === undefined ? stored : convert.fromStored(cloneJson(stored));
    if (object.apiVersion !== apiVersion) object = { ...object, apiVersion };
    if (custom) object = refreshObject(this.#definition, object);
    return deepEqual(object, stored) ? stored : deepFreeze(object);
  }
}
