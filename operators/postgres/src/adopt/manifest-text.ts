/** Manifests as text, in the YAML 1.1 that kubectl reads. */
import { kubernetesYaml } from "setpoint/install";
import { parseAllDocuments, stringify } from "yaml";
import { InputRefused } from "./fields.ts";

/** The values of all documents but empty ones. Throws `InputRefused` with the name of the file. */
export function readManifests(text: string, path: string): readonly unknown[] {
  const documents = parseAllDocuments(text, kubernetesYaml);
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
