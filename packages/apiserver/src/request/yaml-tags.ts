/**
 * The scalars of YAML as Go's library reads them for the API: without times and numbers to the base of sixty,
 * and with octal numbers of YAML 1.2.
 */
import type { ScalarTag, Tags } from "yaml";

const intTag = "tag:yaml.org,2002:int";
const floatTag = "tag:yaml.org,2002:float";
const binaryTag = "tag:yaml.org,2002:binary";
const timestampTag = "tag:yaml.org,2002:timestamp";

const octal: ScalarTag = {
  tag: intTag,
  default: true,
  test: /^[-+]?0o[0-7]+$/,
  resolve: (text) => (text.startsWith("-") ? -1n : 1n) * BigInt(text.replace(/^[-+]/, "")),
};

/** `!!float 1`: the library looks for a point. */
const wholeFloat: ScalarTag = { tag: floatTag, default: false, resolve: Number };

/** JSON has text for bytes. */
const binary: ScalarTag = {
  tag: binaryTag,
  default: false,
  resolve: (text) => Buffer.from(text, "base64").toString("utf8"),
};

export function goTags(tags: Tags): Tags {
  const kept = tags.filter(
    (tag) => typeof tag === "string" || !(tag.format === "TIME" || tag.tag === timestampTag || tag.tag === binaryTag),
  );
  return [...kept, octal, wholeFloat, binary];
}
