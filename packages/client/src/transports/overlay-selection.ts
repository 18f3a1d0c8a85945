/** Which objects a list or a watch asks for, and in what form. */
import {
  type ApiRequest,
  isJsonObject,
  type LabelSelector,
  type FieldSelector,
  matchesFields,
  parseFieldSelector,
  parseLabelSelector,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { parseResourceRequest, type ResourceRequest } from "./resource-request.ts";

export class OverlaySelection {
  readonly asked: ResourceRequest;
  readonly #labels: LabelSelector;
  readonly #fields: FieldSelector;
  readonly #isMetadataOnly: boolean;

  /** Throws when the request is not one for a resource. */
  constructor(request: ApiRequest) {
    const asked = parseResourceRequest(request);
    if (asked === undefined) throw new Error(`${request.path} is not the path of a resource`);
    this.asked = asked;
    this.#labels = parseLabelSelector(textOf(request.query?.["labelSelector"]));
    this.#fields = parseFieldSelector(textOf(request.query?.["fieldSelector"]));
    this.#isMetadataOnly = request.headers?.["accept"]?.includes("as=PartialObjectMetadata") ?? false;
  }

  matches(object: UnstructuredObject): boolean {
    const { namespace = "", labels = {} } = object.metadata;
    if (this.asked.namespace !== "" && this.asked.namespace !== namespace) return false;
    if (!this.#labels.matches(labels)) return false;
    return matchesFields(this.#fields, fieldsOf(object, this.#fields));
  }

  /** The object as it was asked for. */
  shown(object: UnstructuredObject): UnstructuredObject {
    if (!this.#isMetadataOnly) return object;
    return { apiVersion: "meta.k8s.io/v1", kind: "PartialObjectMetadata", metadata: object.metadata };
  }
}

function fieldsOf(object: UnstructuredObject, { requirements }: FieldSelector): Readonly<Record<string, string>> {
  return Object.fromEntries(requirements.map(({ field }) => [field, textAt(object, field)]));
}

function textAt(object: unknown, path: string): string {
  let value = object;
  for (const key of path.split(".")) value = isJsonObject(value) ? value[key] : undefined;
  return value === undefined || value === null ? "" : String(value);
}

function textOf(value: string | readonly string[] | undefined): string {
  return typeof value === "string" ? value : (value?.[0] ?? "");
}
