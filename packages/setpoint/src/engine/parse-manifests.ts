/** The objects in what a program has written: YAML as Kubernetes reads it, JSON, or lists of objects. */
import { decodeJson, isJsonObject } from "@setpoint/apimachinery";
import { parseAllDocuments, type Tags } from "yaml";

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
  // Kubernetes reads YAML 1.1: `0644` is octal and `on` is true. But it knows no dates and no numbers to the
  // base of sixty.
  const documents = parseAllDocuments(text, { version: "1.1", merge: true, customTags: withoutTimes });
  return [...documents].map((document) => {
    const [fault] = document.errors;
    if (fault !== undefined) throw new Error(fault.message.split("\n")[0]?.replace(/:$/, ""));
    return document.toJS({ maxAliasCount: aliasCountMax }) as unknown;
  });
}

function withoutTimes(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || !(tag.format === "TIME" || tag.tag === "tag:yaml.org,2002:timestamp"),
  );
}

/** Empty documents are what templates leave behind; lists hold objects. */
function unpacked(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  if (Array.isArray(value)) return value.flatMap(unpacked);
  if (isJsonObject(value) && String(value["kind"]).endsWith("List") && Array.isArray(value["items"]))
    return value["items"].flatMap(unpacked);
  return [value];
}
