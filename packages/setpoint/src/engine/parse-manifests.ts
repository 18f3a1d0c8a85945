/** The objects in what a program has written: YAML as Kubernetes reads it, JSON, or lists of objects. */
import { decodeJson, isJsonObject } from "@setpoint/apimachinery";
import { parseAllDocuments } from "yaml";
import { kubernetesYaml } from "../install/kubernetes-yaml.ts";

/** Deeper nesting of aliases is an attack, or a mistake. */
const aliasCountMax = 100;

/** Throws a plain Error whose message says where the text is wrong. */
export function parseManifests(text: string): readonly unknown[] {
  return documentsOf(text).flatMap(unpacked);
}

function documentsOf(text: string): readonly unknown[] {
  if (/^\s*[[{]/.test(text)) {
    try {
      return [decodeJson(text)];
    } catch {
      // YAML that begins with a bracket, or several documents of JSON.
    }
  }
  const documents = parseAllDocuments(text, kubernetesYaml);
  return [...documents].map((document) => {
    const [fault] = document.errors;
    if (fault !== undefined) throw new Error(fault.message.split("\n")[0]?.replace(/:$/, ""));
    return document.toJS({ maxAliasCount: aliasCountMax }) as unknown;
  });
}

/** Empty documents are what templates leave behind; lists hold objects. */
function unpacked(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap(unpacked);
  if (isJsonObject(value) && String(value["kind"]).endsWith("List") && Array.isArray(value["items"]))
    return value["items"].flatMap(unpacked);
  return [value];
}
