/** Objects of YAML and JSON files, as a server would have them. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { kubernetesYaml } from "setpoint/install";
import { parseAllDocuments } from "yaml";

/** An object of a file; its fields are checked when it is used. */
export interface FileObject {
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly file: string;
  readonly value: Readonly<Record<string, unknown>>;
}

const endings = /\.(ya?ml|json)$/;

/** Of all files below a folder, or of one file. Throws an Error that names the file. */
export function readObjects(path: string, namespace: string): readonly FileObject[] {
  return filesIn(path).flatMap((file) => {
    const documents = [...parseAllDocuments(readFileSync(file, "utf8"), kubernetesYaml)];
    return documents.flatMap((document) => {
      const [error] = document.errors;
      if (error !== undefined) throw new Error(`Cannot read "${file}": ${error.message.split("\n", 1)[0] ?? ""}`);
      return objectsIn(document.toJS(), file, namespace);
    });
  });
}

function filesIn(path: string): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).toSorted();
  return names.filter((name) => endings.test(name)).map((name) => join(path, name));
}

/** What is no object of Kubernetes is passed over; a List is its items. */
function objectsIn(value: unknown, file: string, namespace: string): readonly FileObject[] {
  if (!isRecord(value)) return [];
  const { kind, apiVersion, metadata = {}, items } = value;
  if (Array.isArray(items)) return items.flatMap((item) => objectsIn(item, file, namespace));
  if (typeof kind !== "string" || typeof apiVersion !== "string" || !isRecord(metadata)) return [];
  const { name, namespace: own } = metadata;
  if (typeof name !== "string") throw new Error(`Cannot read "${file}": a ${kind} has no metadata.name`);
  const place = { ...metadata, name, namespace: typeof own === "string" ? own : namespace };
  return [{ kind, apiVersion, metadata: place, file, value: { ...value, metadata: place } }];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
