/** The response form that a client requests: the object, a Table, or metadata only; as JSON or YAML. */
import { notAcceptable } from "./api-errors.ts";

export interface AcceptedForm {
  readonly as: "Object" | "Table" | "PartialObjectMetadata" | "PartialObjectMetadataList";
  readonly isYaml: boolean;
}

const jsonObject: AcceptedForm = { as: "Object", isYaml: false };
const accepted = ["application/json", "application/yaml"];
const metaGroup = "meta.k8s.io";

/**
 * Protobuf is never chosen: a client that accepts nothing else gets a 406, as for custom resources upstream.
 */
export function parseAcceptedForm(header: string | undefined): AcceptedForm {
  // The two headers of nearly all requests need no parsing.
  if (header === undefined || header === "" || header === "application/json" || header === "*/*") return jsonObject;
  const clauses = header.split(",").map(parseClause);
  clauses.sort((a, b) => b.quality - a.quality);
  for (const clause of clauses) {
    const form = formOf(clause);
    if (form !== undefined) return form;
  }
  throw notAcceptable(accepted);
}

interface Clause {
  readonly mediaType: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

function parseClause(clause: string): Clause {
  const [mediaType = "", ...rest] = clause.split(";");
  const parameters = new Map<string, string>();
  for (const part of rest) {
    const equals = part.indexOf("=");
    if (equals !== -1) parameters.set(part.slice(0, equals).trim(), part.slice(equals + 1).trim());
  }
  const quality = Number(parameters.get("q") ?? "1");
  return { mediaType: mediaType.trim().toLowerCase(), quality: Number.isNaN(quality) ? 0 : quality, parameters };
}

function formOf({ mediaType, quality, parameters }: Clause): AcceptedForm | undefined {
  if (quality <= 0) return undefined;
  const isYaml = mediaType === "application/yaml";
  const isJson = mediaType === "application/json" || mediaType === "*/*" || mediaType === "application/*";
  if (!isYaml && !isJson) return undefined;
  const as = parameters.get("as");
  if (as === undefined) return { as: "Object", isYaml };
  if (parameters.get("g") !== metaGroup || !["v1", "v1beta1"].includes(parameters.get("v") ?? "")) return undefined;
  if (as === "Table" || as === "PartialObjectMetadata" || as === "PartialObjectMetadataList") return { as, isYaml };
  return undefined;
}
