import type { DocumentOptions, ParseOptions, SchemaOptions, Tags } from "yaml";

/**
 * How the library `yaml` reads manifests as kubectl does, in YAML 1.1: `0644` is octal and `on` is true. But
 * Kubernetes knows no dates and no numbers to the base of sixty: `12:30` is a text.
 */
export const kubernetesYaml: ParseOptions & DocumentOptions & SchemaOptions = {
  version: "1.1",
  merge: true,
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) => typeof tag === "string" || !(tag.format === "TIME" || tag.tag === "tag:yaml.org,2002:timestamp"),
    ),
};
