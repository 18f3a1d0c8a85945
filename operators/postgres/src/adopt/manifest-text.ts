/** Manifests as text, in the YAML 1.1 that kubectl reads. */
import { parseAllDocuments, stringify } from "yaml";
import { InputRefused } from "./fields.ts";

/** kubectl reads times as text, and 12:30 as no number. */
function isOfKubectl({ tag, format }: { readonly tag: string; readonly format?: string }): boolean {
  return tag !== "tag:yaml.org,2002:timestamp" && format !== "TIME";
}

/** The values of all documents but empty ones. Throws `InputRefused` with the name of the file. */
export function readManifests(text: string, path: string): readonly unknown[] {
  const documents = parseAllDocuments(text, {
    version: "1.1",
    merge: true,
    customTags: (tags) => tags.filter((tag) => typeof tag === "string" || isOfKubectl(tag)),
  });
  return [...documents].flatMap((document): readonly unknown[] => {
    const [error] = document.errors;
    if (error !== undefined) throw new InputRefused(`Cannot read "${path}": ${error.message.split("\n", 1)[0] ?? ""}`);
    const value: unknown = document.toJS();
    return value === null ? [] : [value];
  });
}

/** A document of its own. */
export function manifestText(object: object): string {
  return `---\n${stringify(object, { version: "1.1", lineWidth: 0, aliasDuplicateObjects: false })}`;
}
