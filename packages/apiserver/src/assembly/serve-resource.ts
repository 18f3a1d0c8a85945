/** Selects the operation for a resource request and shapes its response. */
import {
  type ApiResponse,
  apiVersionOf,
  type KubeList,
  type Status,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { DecodedBody } from "../request/body-decoder.ts";
import { parameter } from "../request/query-parameters.ts";
import type { ServedRequest } from "../registry/served-request.ts";
import { type AcceptedForm, parseAcceptedForm } from "../response/accepted-form.ts";
import { badRequest, methodNotAllowed, notAcceptable, unknownResource } from "../response/api-errors.ts";
import { headersWith, type Presentation, presentList, presentObject, respond } from "../response/responses.ts";
import { parseIncludeObject, withoutColumnDefinitions } from "../response/table.ts";
import { openWatch } from "../watch/open-watch.ts";
import type { WatchSet } from "../watch/watch-set.ts";
import { createObject } from "../write/create-object.ts";
import { deleteCollection, deleteObject } from "../write/delete-object.ts";
import { patchObject } from "../write/patch-object.ts";
import { putObject } from "../write/put-object.ts";
import { getObject, listObjects } from "../read/read-objects.ts";
import type { RequestAttributes } from "../request/request-attributes.ts";
import type { RegistryContext } from "../registry/registry-context.ts";
import type { ResourceDefinition, Verb } from "../registry/resource-definition.ts";
import { getScale, writeScale } from "../write/scale.ts";

export interface ServerParts {
  readonly context: RegistryContext;
  readonly watches: WatchSet;
}

export async function serveResource(
  parts: ServerParts,
  served: ServedRequest,
  decode: () => Promise<DecodedBody>,
): Promise<ApiResponse> {
  const { definition, attributes, warnings, request } = served;
  if (isObjectOfNoNamespace(definition, attributes)) throw unknownResource();
  checkVerb(definition, attributes.verb, attributes.subresource, attributes.name);
  checkScope(definition, attributes.verb, attributes.namespace);
  if (definition.deprecationWarning !== undefined) warnings.add(definition.deprecationWarning);
  const form = parseAcceptedForm(request.headers?.["accept"]);
  const include = form.as === "Table" ? parseIncludeObject(parameter(request.query, "includeObject")) : "Metadata";
  const presentation = { definition, form, include, clock: parts.context.host.clock };
  if (attributes.verb === "watch") return watch(parts, served, presentation);
  const answer = await operate(parts.context, served, await decode());
  return respond(answer.code, present(presentation, answer), headersWith(warnings), form.isYaml);
}

interface Answer {
  readonly code: number;
  readonly kind: "object" | "list" | "raw";
  readonly value: unknown;
}

function present(presentation: Presentation, { kind, value }: Answer): unknown {
  // The operations below say what they answer by `kind`.
  if (kind === "list") return presentList(presentation, value as KubeList);
  return kind === "object" ? presentObject(presentation, value as UnstructuredObject) : value;
}

async function operate(context: RegistryContext, served: ServedRequest, body: DecodedBody): Promise<Answer> {
  const { attributes } = served;
  if (attributes.subresource === "scale") return scale(context, served, body);
  switch (attributes.verb) {
    case "get":
      return { code: 200, kind: "object", value: await getObject(context, served) };
    case "list":
      return { code: 200, kind: "list", value: await listObjects(context, served) };
    case "create":
      return { code: 201, kind: "object", value: await createObject(context, served, body.value, body) };
    case "update":
      return updated(await putObject(context, served, body.value, body));
    case "patch":
      return updated(await patchObject(context, served, body.mediaType, body.value, body.duplicates));
    case "delete":
      return deleted(await deleteObject(context, served, body.value));
    case "deletecollection":
      return { code: 200, kind: "list", value: await deleteCollection(context, served, body.value) };
    default:
      throw methodNotAllowed();
  }
}

async function scale(context: RegistryContext, served: ServedRequest, body: DecodedBody): Promise<Answer> {
  const { verb } = served.attributes;
  const value = verb === "get" ? await getScale(context, served) : await writeScale(context, served, body);
  return { code: 200, kind: "raw", value };
}

function updated({ object, created }: { readonly object: UnstructuredObject; readonly created: boolean }): Answer {
  return { code: created ? 201 : 200, kind: "object", value: object };
}

function deleted({ code, object }: { readonly code: number; readonly object: UnstructuredObject | Status }): Answer {
  return { code, kind: object.kind === "Status" ? "raw" : "object", value: object };
}

async function watch(parts: ServerParts, served: ServedRequest, presentation: Presentation): Promise<ApiResponse> {
  const { form } = presentation;
  if (form.isYaml) throw notAcceptable(["application/json"]);
  const frames = await openWatch(
    parts.context,
    served,
    watchForm(presentation, form, served.definition),
    parts.watches,
  );
  return { kind: "watch", status: 200, headers: headersWith(served.warnings), frames };
}

function watchForm(
  presentation: Presentation,
  form: AcceptedForm,
  definition: ResourceDefinition,
): Parameters<typeof openWatch>[2] {
  const isPartial = form.as === "PartialObjectMetadata" || form.as === "PartialObjectMetadataList";
  // A list form on a watch means the form of its items.
  const each: Presentation = isPartial
    ? { ...presentation, form: { ...form, as: "PartialObjectMetadata" } }
    : presentation;
  const listBlueprint = isPartial ? partialBlueprint : blueprintOf(definition);
  if (form.as === "Table") return { show: tablesOf(each), listBlueprint };
  return { show: (object) => presentObject(each, object), listBlueprint };
}

function emptyList(kind: string, apiVersion: string, items: readonly [] | null): string {
  const list = { kind, apiVersion, metadata: { resourceVersion: "" }, items };
  return Buffer.from(`${JSON.stringify(list)}\n`).toString("base64");
}

const partialBlueprint = emptyList("PartialObjectMetadataList", "meta.k8s.io/v1", []);

function blueprintOf({ group, version, listKind }: ResourceDefinition): string {
  return emptyList(listKind, apiVersionOf({ group, version }), null);
}

/** Tables of one object each; only the first has the columns. */
function tablesOf(presentation: Presentation): (object: UnstructuredObject) => object {
  let isFirst = true;
  return (object) => {
    const table = presentObject(presentation, object);
    if (!isFirst) return withoutColumnDefinitions(table);
    isFirst = false;
    return table;
  };
}

/** Such a path has no route; the name of a list comes from its selector. */
function isObjectOfNoNamespace({ namespaced }: ResourceDefinition, attributes: RequestAttributes): boolean {
  return namespaced && attributes.verb === "create" && attributes.namespace === "" && attributes.name !== "";
}

function checkVerb(definition: ResourceDefinition, verb: string, subresource: string, name: string): void {
  if (subresource === "") {
    // The verb is one of the URL grammar; `includes` only compares.
    if (!definition.verbs.includes(verb as Verb)) throw methodNotAllowed();
    if (verb === "create" && name !== "") throw methodNotAllowed();
    if ((verb === "update" || verb === "patch") && name === "") throw methodNotAllowed();
    return;
  }
  const found = definition.subresources.find((each) => each.name === subresource);
  // What connects to a node or a pod (`proxy`, `attach`) shows no object: it has an endpoint of its own or is
  // not served.
  if (found === undefined || (found.kind.kind !== definition.kind && subresource !== "scale")) throw unknownResource();
  if (!found.verbs.includes(verb)) throw methodNotAllowed();
}

/** Objects with a namespace are read across all of them, and written in one. */
function checkScope(definition: ResourceDefinition, verb: string, namespace: string): void {
  if (!definition.namespaced) {
    if (namespace !== "" && definition.resource !== "namespaces") throw unknownResource();
    return;
  }
  if (namespace !== "" || verb === "list" || verb === "watch" || verb === "deletecollection") return;
  if (verb === "create") throw badRequest("an empty namespace may not be set during creation");
  throw unknownResource();
}
