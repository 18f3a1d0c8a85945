import { apiVersionOf, deepEqual, deepFreeze, type UnstructuredObject } from "@setpoint/apimachinery";
import { applyDefaults } from "@setpoint/schema";
import { pruneObject, refreshObject } from "./object-codec.ts";
import type { ObjectConverter, ResourceDefinition } from "./resource-definition.ts";

/** Objects in one call of a conversion webhook: its body stays far below what servers accept. */
const convertedAtOnceMax = 500;

/**
 * Stored objects as one version of one resource shows them. Built-in kinds in their storage version are shown
 * as they are stored; custom kinds are pruned and defaulted by the schema of now, and other versions are
 * converted. What was made once is kept as long as the stored object lives, so readers and watchers share it.
 */
export class ResourceView {
  readonly #definition: ResourceDefinition;
  readonly #apiVersion: string;
  readonly #isPlain: boolean;
  readonly #shown = new WeakMap<UnstructuredObject, UnstructuredObject>();

  constructor(definition: ResourceDefinition) {
    this.#definition = definition;
    this.#apiVersion = apiVersionOf(definition);
    const isConverted = definition.version !== definition.storageVersion || definition.convert !== undefined;
    this.#isPlain = !isConverted && !definition.custom;
  }

  /** Whether a conversion webhook has to convert objects before they can be shown; false for most kinds. */
  get needsWebhook(): boolean {
    return this.#definition.converter !== undefined;
  }

  /** Converts what `show` cannot show yet, in as few calls of the webhook as possible. */
  async ready(stored: readonly UnstructuredObject[]): Promise<void> {
    const { converter } = this.#definition;
    if (converter === undefined) return;
    const missing = stored.filter((each) => this.#isForeign(each) && !this.#shown.has(each));
    for (let start = 0; start < missing.length; start += convertedAtOnceMax)
      await this.#convertBy(converter, missing.slice(start, start + convertedAtOnceMax));
  }

  /** `show` after `ready`. */
  async showReady(stored: UnstructuredObject): Promise<UnstructuredObject> {
    await this.ready([stored]);
    return this.show(stored);
  }

  /** Whether a conversion webhook has to convert it. */
  #isForeign(stored: UnstructuredObject): boolean {
    return this.#definition.converter !== undefined && stored.apiVersion !== this.#apiVersion;
  }

  async #convertBy(converter: ObjectConverter, stored: readonly UnstructuredObject[]): Promise<void> {
    const sent = stored.map((each) => this.#completed(each));
    const converted = await converter.convert(sent, this.#apiVersion);
    for (const [index, object] of converted.entries()) {
      const original = stored[index];
      if (original !== undefined) this.#shown.set(original, deepFreeze(pruneObject(this.#definition.schema, object)));
    }
  }

  /** What a webhook has to convert and was not made `ready` is shown as it is stored. */
  show(stored: UnstructuredObject): UnstructuredObject {
    if (this.#isPlain) return stored;
    let shown = this.#shown.get(stored);
    if (shown === undefined) {
      if (this.#isForeign(stored)) return stored;
      shown = this.#convert(stored);
      this.#shown.set(stored, shown);
    }
    return shown;
  }

  /**
   * The form in which an object of this version is stored; takes over the object it is given, which this very
   * definition has decoded. In its storage version showing it again needs no work.
   */
  async toStored(object: UnstructuredObject): Promise<UnstructuredObject> {
    const { convert, converter, group, version, storageVersion, custom } = this.#definition;
    if (convert !== undefined) return convert.toStored(object);
    if (version !== storageVersion) {
      const apiVersion = apiVersionOf({ group, version: storageVersion });
      const [converted] = (await converter?.convert([object], apiVersion)) ?? [{ ...object, apiVersion }];
      return this.#pruned(converted ?? object);
    }
    if (custom) this.#shown.set(object, object);
    return object;
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
