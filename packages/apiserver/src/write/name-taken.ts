import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ResourceDefinition } from "../registry/resource-definition.ts";
import { alreadyExists } from "../response/api-errors.ts";

/** A create found an object of its name; with generateName another name is tried. */
export class NameTaken extends Error {
  readonly #definition: ResourceDefinition;
  readonly #existing: UnstructuredObject;

  constructor(definition: ResourceDefinition, existing: UnstructuredObject) {
    super("the name is taken");
    this.#definition = definition;
    this.#existing = existing;
  }

  asApiError(wasGenerated: boolean): Error {
    const { name = "", deletionTimestamp } = this.#existing.metadata;
    const prefix = deletionTimestamp === undefined ? "" : "object is being deleted: ";
    const suffix = wasGenerated ? ", the server was not able to generate a unique name for the object" : "";
    return alreadyExists(this.#definition, name, prefix, suffix);
  }
}
