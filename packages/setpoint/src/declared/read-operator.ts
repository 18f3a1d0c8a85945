/**
 * An operator declared in YAML: definitions of kinds, and controllers whose functions are programs or hooks.
 */
import { isJsonObject, SetpointError, type JsonObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import type { ControllerDefinition } from "@setpoint/runtime";
import { errCompositeController, readCompositeController } from "./composite-controller.ts";
import type { CompositeControllerOptions } from "./composite-controller.ts";
import { defineOperator, type Operator } from "../operator.ts";
import { DeclaredKinds } from "./declared-kinds.ts";
import { engineHealth } from "../engine/engine-conditions.ts";

/** What `readOperator` needs besides the documents. */
export interface DeclaredOperatorOptions extends Omit<CompositeControllerOptions, "mapper"> {
  /** Where the documents are from; error messages name it. */
  readonly file?: string;
}

/**
 * Reads CustomResourceDefinitions and CompositeControllers into an operator, without a server. It is named
 * after its first controller. Errors: `ERR_COMPOSITE_CONTROLLER`.
 */
export function readOperator(documents: readonly unknown[], options: DeclaredOperatorOptions): Operator {
  const objects = documents.filter((each) => each !== null && each !== undefined);
  const definitions = objects.filter((each) => kindOf(each) === "CustomResourceDefinition").filter(isJsonObject);
  const manifests = objects.filter((each) => kindOf(each) === "CompositeController");
  const refused = (problem: string): SetpointError => notAnOperator(options.file, problem);
  const stray = objects.find((each) => !definitions.some((one) => one === each) && !manifests.includes(each));
  if (stray !== undefined)
    throw refused(`it holds a ${kindOf(stray)}, expected CompositeControllers and CustomResourceDefinitions`);
  const mapper = new DeclaredKinds(definitions);
  const controllers = manifests.map((each) => readCompositeController(each, { ...options, mapper }));
  const [first] = controllers;
  if (first === undefined) throw refused("it holds no CompositeController");
  for (const each of controllers) requireConditions(each);
  return defineOperator({ name: first.name, controllers });
}

function kindOf(value: unknown): string {
  const kind = isJsonObject(value) ? value["kind"] : undefined;
  return typeof kind === "string" ? kind : "document without kind";
}

/** An engine says in conditions how things are; what a definition has no place for, the server drops. */
function requireConditions({ name, kind, health }: ControllerDefinition): void {
  if (health !== engineHealth || !("crd" in kind)) return;
  const { schema, hasStatus } = kind as KindRef & { readonly schema?: unknown; readonly hasStatus?: boolean };
  const cannot = `Cannot use CompositeController "${name}": its kind ${kind.kind}`;
  if (hasStatus !== true)
    throw new SetpointError(errCompositeController, `${cannot} has no \`subresources: { status: {} }\``);
  if (at(schema, "properties", "status", "properties", "conditions") === undefined)
    throw new SetpointError(
      errCompositeController,
      `${cannot} has no status.conditions in its schema, but Ready is reported there`,
    );
}

function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((each, name) => (isJsonObject(each) ? (each as JsonObject)[name] : undefined), value);
}

function notAnOperator(file: string | undefined, problem: string): SetpointError {
  const from = file === undefined ? "the documents" : `"${file}"`;
  return new SetpointError(errCompositeController, `Cannot read an operator from ${from}: ${problem}`);
}
