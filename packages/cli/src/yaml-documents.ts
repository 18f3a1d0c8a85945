/** The documents of a YAML text; JSON is YAML, too. */
import { kubernetesYaml } from "setpoint/install";
import { parseAllDocuments } from "yaml";

/**
 * As kubectl reads them. Throws an Error with one line that says what is wrong, and where. An empty document
 * is null.
 */
export function yamlDocuments(text: string): readonly unknown[] {
  return [...parseAllDocuments(text, kubernetesYaml)].map((document): unknown => {
    const [error] = document.errors;
    // The further lines show the text with a mark.
    if (error !== undefined) throw new Error(error.message.split("\n")[0]?.replace(/:$/, ""));
    return document.toJS();
  });
}
