/** The documents of a YAML text; JSON is YAML, too. */
import { parseAllDocuments, type Tags } from "yaml";

/**
 * As kubectl reads them, in YAML 1.1: `0644` is octal and `on` is true. Throws an Error with one line that
 * says what is wrong, and where. An empty document is null.
 */
export function yamlDocuments(text: string): readonly unknown[] {
  return [...parseAllDocuments(text, { version: "1.1", merge: true, customTags: withoutTimes })].map(
    (document): unknown => {
      const [error] = document.errors;
      // The further lines show the text with a mark.
      if (error !== undefined) throw new Error(error.message.split("\n")[0]?.replace(/:$/, ""));
      return document.toJS();
    },
  );
}

/** Kubernetes knows no dates, and no numbers to the base of sixty. */
function withoutTimes(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === "string" || !(tag.format === "TIME" || tag.tag === "tag:yaml.org,2002:timestamp"),
  );
}
