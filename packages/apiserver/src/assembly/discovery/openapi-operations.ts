/**
 * The operations of one resource for OpenAPI, by table: which verb has which path and method.
 */
import type { ResourceDefinition, SubresourceDefinition } from "../../registry/resource-definition.ts";
import { type ComponentCollector, metaComponents } from "./openapi-components.ts";
import type { JsonSchema } from "./openapi-custom.ts";
import { parametersOf, pathParameter, prettyParameter } from "./openapi-parameters.ts";

type PathItem = Record<string, unknown>;

interface Row {
  readonly verb: string;
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly action: string;
  /** The start of the operation id. */
  readonly word: string;
  readonly place: "collection" | "item";
}

const rows: readonly Row[] = [
  { verb: "list", method: "get", action: "list", word: "list", place: "collection" },
  { verb: "create", method: "post", action: "post", word: "create", place: "collection" },
  { verb: "deletecollection", method: "delete", action: "deletecollection", word: "delete", place: "collection" },
  { verb: "get", method: "get", action: "get", word: "read", place: "item" },
  { verb: "update", method: "put", action: "put", word: "replace", place: "item" },
  { verb: "delete", method: "delete", action: "delete", word: "delete", place: "item" },
  { verb: "patch", method: "patch", action: "patch", word: "patch", place: "item" },
];

/** Subresources that open a stream or pass a request on, instead of reading or writing an object. */
const connecting: ReadonlySet<string> = new Set(["attach", "exec", "portforward", "proxy"]);

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** `AppsV1`, `RbacAuthorizationV1`, `CoreV1`, `ExampleComV1`. */
function groupVersionWord({ group, version }: ResourceDefinition): string {
  const short = group === "" ? "core" : group.replace(/\.k8s\.io$/, "");
  return short.split(/[.-]/).map(capitalize).join("") + capitalize(version);
}

function tagOf({ group, version }: ResourceDefinition): string {
  const [first = "", ...rest] = (group === "" ? "core" : group.replace(/\.k8s\.io$/, "")).split(/[.-]/);
  return `${[first, ...rest.map(capitalize)].join("")}_${version}`;
}

/** Writes the paths of a resource. Schemas that they name are collected in `components`. */
export class OperationWriter {
  readonly #definition: ResourceDefinition;
  readonly #components: ComponentCollector;
  readonly #scope: string;
  readonly #types: readonly string[];

  constructor(definition: ResourceDefinition, components: ComponentCollector) {
    this.#definition = definition;
    this.#components = components;
    this.#scope = definition.namespaced ? "Namespaced" : "";
    const plain = ["application/json", "application/yaml"];
    this.#types = definition.custom ? plain : [...plain, "application/vnd.kubernetes.protobuf"];
  }

  paths(): Readonly<Record<string, PathItem>> {
    const { group, version, resource, namespaced, kind } = this.#definition;
    const base = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
    const collection = namespaced ? `${base}/namespaces/{namespace}/${resource}` : `${base}/${resource}`;
    const item = `${collection}/{name}`;
    const paths: Record<string, PathItem> = {};
    this.#add(paths, collection, this.#operations("collection"));
    this.#add(paths, item, this.#operations("item"));
    for (const sub of this.#definition.subresources) this.#add(paths, `${item}/${sub.name}`, this.#subresource(sub));
    if (namespaced && this.#definition.verbs.includes("list")) {
      const id = `list${groupVersionWord(this.#definition)}${kind}ForAllNamespaces`;
      const list = this.#operation({ action: "list", id, kind: this.#kind(), response: this.#list() });
      this.#add(paths, `${base}/${resource}`, { get: list });
    }
    return paths;
  }

  #add(paths: Record<string, PathItem>, path: string, operations: PathItem): void {
    if (Object.keys(operations).length === 0) return;
    const inPath = [];
    if (path.includes("{name}")) inPath.push(pathParameter("name", `name of the ${this.#definition.kind}`));
    if (path.includes("{namespace}")) inPath.push(pathParameter("namespace", "object name and auth scope"));
    paths[path] = { ...operations, parameters: [...inPath, prettyParameter] };
  }

  #kind(): SubresourceDefinition["kind"] {
    const { group, version, kind } = this.#definition;
    return { group, version, kind };
  }

  #list(): JsonSchema {
    return this.#components.referenceKind(this.#definition, { ...this.#kind(), kind: this.#definition.listKind });
  }

  #operations(place: Row["place"]): PathItem {
    const { verbs, kind } = this.#definition;
    const served = rows.filter((row) => row.place === place && (verbs as readonly string[]).includes(row.verb));
    const own = this.#components.referenceKind(this.#definition, this.#kind());
    const operations: PathItem = {};
    for (const row of served) {
      const collection = row.action === "deletecollection" ? "Collection" : "";
      const id = `${row.word}${groupVersionWord(this.#definition)}${collection}${this.#scope}${kind}`;
      const response = this.#responseOf(row.action, own);
      operations[row.method] = this.#operation({ action: row.action, id, kind: this.#kind(), response, body: own });
    }
    return operations;
  }

  #responseOf(action: string, own: JsonSchema): JsonSchema {
    if (action === "list") return this.#list();
    if (action === "deletecollection") return this.#components.reference(metaComponents.status);
    if (action !== "delete" || this.#definition.strategy.returnsDeletedObject === true) return own;
    return this.#components.reference(metaComponents.status);
  }

  #subresource(sub: SubresourceDefinition): PathItem {
    const kind = sub.kind.version === "" ? { ...this.#kind(), kind: sub.kind.kind } : sub.kind;
    const schema = this.#components.referenceKind(this.#definition, kind);
    // Clients find out by this mark how to patch objects; upstream marks all operations of a CRD with its own
    // kind.
    const marked = this.#definition.custom ? this.#kind() : kind;
    const word = groupVersionWord(this.#definition);
    const name = `${this.#scope}${this.#definition.kind}${capitalize(sub.name)}`;
    const operations: PathItem = {};
    for (const verb of sub.verbs) {
      const row = rows.find((each) => each.verb === verb);
      if (row === undefined) continue;
      const { method } = row;
      operations[method] = connecting.has(sub.name)
        ? this.#operation({
            action: "connect",
            id: `connect${word}${capitalize(method)}${name}`,
            kind: marked,
            response: schema,
          })
        : this.#operation({
            action: row.action,
            id: `${row.word}${word}${name}`,
            kind: marked,
            response: schema,
            body: schema,
          });
    }
    return operations;
  }

  #operation(parts: OperationParts): JsonSchema {
    const { action, id, kind, response, body } = parts;
    const requestBody = body === undefined ? undefined : this.#requestBody(action, body);
    return {
      tags: [tagOf(this.#definition)],
      operationId: id,
      parameters: parametersOf(action),
      ...(requestBody === undefined ? {} : { requestBody }),
      responses: this.#responses(action, response),
      "x-kubernetes-action": action,
      "x-kubernetes-group-version-kind": kind,
    };
  }

  #requestBody(action: string, body: JsonSchema): JsonSchema | undefined {
    const deleteOptions = this.#components.reference(metaComponents.deleteOptions);
    if (action === "patch") return this.#patchBody();
    if (action === "post" || action === "put") return { content: contentOf(this.#bodyTypes(), body), required: true };
    if (action === "delete" || (action === "deletecollection" && !this.#definition.custom))
      return { content: contentOf(this.#bodyTypes(), deleteOptions) };
    return undefined;
  }

  #bodyTypes(): readonly string[] {
    return this.#definition.custom ? this.#types : ["*/*"];
  }

  #patchBody(): JsonSchema {
    const types = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
    if (!this.#definition.custom) types.push("application/strategic-merge-patch+json");
    return { content: contentOf(types, this.#components.reference(metaComponents.patch)), required: true };
  }

  #responses(action: string, schema: JsonSchema): JsonSchema {
    const content = contentOf(action === "connect" ? ["*/*"] : this.#types, schema);
    const answer = (description: string): JsonSchema => ({ description, content });
    const created = action === "post" || action === "put" || (action === "patch" && !this.#definition.custom);
    return {
      200: answer("OK"),
      ...(created ? { 201: answer("Created") } : {}),
      ...(action === "post" || action === "delete" ? { 202: answer("Accepted") } : {}),
      401: { description: "Unauthorized" },
    };
  }
}

interface OperationParts {
  readonly action: string;
  readonly id: string;
  readonly kind: SubresourceDefinition["kind"];
  readonly response: JsonSchema;
  readonly body?: JsonSchema;
}

function contentOf(types: readonly string[], schema: JsonSchema): Record<string, JsonSchema> {
  return Object.fromEntries(types.map((type) => [type, { schema }]));
}
