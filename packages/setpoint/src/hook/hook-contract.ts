/** Metacontroller's contract on the wire: what a hook is asked, and what it answers. */
import {
  apiVersionOf,
  isJsonObject,
  SetpointError,
  type JsonObject,
  type KubeObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Finalized, ObjectsByKind, KindsByName, RelatedSelector } from "@setpoint/runtime";

/**
 * Objects by kind and version (`ConfigMap.v1`, `Deployment.apps/v1`), then by name; by `namespace/name` below
 * a cluster-scoped parent.
 */
export type ObjectsOnWire = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What a sync or finalize hook is asked. */
export interface SyncRequest {
  readonly controller: { readonly metadata: { readonly name: string } };
  readonly parent: KubeObject;
  readonly children: ObjectsOnWire;
  readonly related: ObjectsOnWire;
  readonly finalizing: boolean;
}

/** What it answers. */
export interface SyncResponse {
  readonly status?: object;
  readonly children: readonly KubeObject[];
  readonly resyncAfterSeconds?: number;
  /** Of a finalize hook: whether the parent may go. */
  readonly finalized?: boolean;
}

/** Which objects a customize hook wants to see. */
export interface RelatedRule {
  readonly apiVersion: string;
  /** The plural. */
  readonly resource: string;
  readonly namespace?: string;
  readonly names?: readonly string[];
  readonly labelSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
}

/** A hook answered something that it may not. */
export const errHookAnswer = "ERR_HOOK_ANSWER";

export function onWire(kinds: KindsByName, objects: ObjectsByKind, parent: KubeObject): ObjectsOnWire {
  const nameOf = ({ metadata }: KubeObject): string =>
    parent.metadata.namespace === undefined && metadata.namespace !== undefined
      ? `${metadata.namespace}/${metadata.name ?? ""}`
      : (metadata.name ?? "");
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => [
      wireKey(kind),
      Object.fromEntries((objects[name] ?? []).map((object) => [nameOf(object), object])),
    ]),
  );
}

/** The objects of a request, by the names that a form has for their kinds. */
export function fromWire(kinds: KindsByName, objects: unknown): ObjectsByKind {
  const byKey = isJsonObject(objects) ? objects : {};
  return Object.fromEntries(
    Object.entries(kinds).map(([name, kind]) => {
      const byName = byKey[wireKey(kind)];
      return [name, isJsonObject(byName) ? Object.values(byName).filter(isStored) : []];
    }),
  );
}

function wireKey(kind: KindRef): string {
  return `${kind.kind}.${apiVersionOf(kind)}`;
}

export function isStored(value: unknown): value is Stored<KubeObject> {
  if (!isJsonObject(value) || !isJsonObject(value["metadata"])) return false;
  const { name, uid } = value["metadata"];
  return typeof value["kind"] === "string" && typeof name === "string" && typeof uid === "string";
}

/** Reads what a hook has answered; `hook` names it in errors. */
export function parseSyncResponse(hook: string, answer: unknown): Finalized {
  const fields = objectOf(hook, answer);
  // Null is how several languages write an empty list.
  const children = fields["children"] ?? fields["attachments"] ?? [];
  if (!Array.isArray(children)) throw wrong(hook, "`children` is no list");
  const { status, resyncAfterSeconds = 0, finalized = false } = fields;
  if (status !== undefined && status !== null && !isJsonObject(status)) throw wrong(hook, "`status` is no object");
  if (typeof resyncAfterSeconds !== "number" || !(resyncAfterSeconds >= 0))
    throw wrong(hook, "`resyncAfterSeconds` is no number of seconds");
  return {
    children: children.map((child, index) => childOf(hook, child, index)),
    ...(isJsonObject(status) ? { status } : {}),
    ...(resyncAfterSeconds === 0 ? {} : { resyncAfterMs: resyncAfterSeconds * 1_000 }),
    finalized: finalized === true,
  };
}

function childOf(hook: string, child: unknown, index: number): KubeObject {
  const at = `child ${index}`;
  if (!isJsonObject(child)) throw wrong(hook, `${at} is no object`);
  const { apiVersion, kind, metadata } = child;
  if (typeof apiVersion !== "string" || typeof kind !== "string") throw wrong(hook, `${at} has no apiVersion and kind`);
  if (!isJsonObject(metadata) || typeof metadata["name"] !== "string")
    throw wrong(hook, `${at} (${kind}) has no metadata.name`);
  // Checked just now: what else it holds is the server's to check.
  return child as unknown as UnstructuredObject;
}

/** Reads the answer of a customize hook: rules for the related kinds that the controller has declared. */
export function parseCustomizeResponse(
  hook: string,
  answer: unknown,
  kinds: KindsByName,
): Readonly<Record<string, RelatedSelector>> {
  const rules = objectOf(hook, answer)["relatedResources"] ?? [];
  if (!Array.isArray(rules)) throw wrong(hook, "`relatedResources` is no list");
  return Object.fromEntries(
    rules.map((rule: unknown) => {
      const { apiVersion, resource, namespace, names, labelSelector } = objectOf(hook, rule) as Partial<RelatedRule>;
      const found = Object.entries(kinds).find(
        ([, kind]) => apiVersionOf(kind) === apiVersion && kind.plural === resource,
      );
      if (found === undefined)
        throw wrong(
          hook,
          `it relates to ${resource ?? "?"} of ${apiVersion ?? "?"}, which the controller has not declared`,
        );
      const selector: RelatedSelector = {
        ...(namespace === undefined ? {} : { namespace }),
        ...(names === undefined ? {} : { names }),
        ...(labelSelector?.matchLabels === undefined ? {} : { labels: labelSelector.matchLabels }),
      };
      return [found[0], selector];
    }),
  );
}

/** The rules by which a form relates its object to others. */
export function relatedRules(
  selectors: Readonly<Record<string, RelatedSelector>>,
  kinds: KindsByName,
): readonly RelatedRule[] {
  return Object.entries(selectors).flatMap(([name, { namespace, names, labels }]) => {
    const kind = kinds[name];
    if (kind === undefined) return [];
    return [
      {
        apiVersion: apiVersionOf(kind),
        resource: kind.plural,
        ...(namespace === undefined ? {} : { namespace }),
        ...(names === undefined ? {} : { names }),
        ...(labels === undefined ? {} : { labelSelector: { matchLabels: labels } }),
      },
    ];
  });
}

function objectOf(hook: string, value: unknown): JsonObject {
  if (isJsonObject(value)) return value;
  throw wrong(hook, "it is no object");
}

function wrong(hook: string, problem: string): SetpointError {
  return new SetpointError(errHookAnswer, `Cannot use the answer of ${hook}: ${problem}`);
}
