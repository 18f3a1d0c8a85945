/**
 * The tokens that a node agent may request: bound to pods of its node, for audiences that these pods name.
 */
import type { ApiError, UnstructuredObject, UserInfo } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import { objectsAt, stringAt } from "../registry/json-fields.ts";
import { forbiddenStatus } from "./forbidden-message.ts";
import { nodeIdentity } from "./node-identity.ts";
import { asRecord, asText, type JsonRecord } from "./read-json.ts";

export interface NodeTokenRequest {
  readonly reader: ObjectReader;
  readonly namespace: string;
  /** Of the service account. */
  readonly name: string;
  readonly spec: JsonRecord;
  /** The requested audiences; none means those of the API server. */
  readonly audiences: readonly string[];
}

/** The part of NodeRestriction that concerns tokens. Throws a 403; users that are no node agents pass. */
export function restrictNodeToken(user: UserInfo, request: NodeTokenRequest): void {
  const node = nodeIdentity(user);
  if (node === undefined) return;
  const problem = problemOf(node, user, request);
  if (problem !== undefined) throw refused(request, problem);
}

function problemOf(node: string, user: UserInfo, request: NodeTokenRequest): string | undefined {
  const { reader, namespace, spec, audiences } = request;
  if (node === "") return `could not determine node from user ${JSON.stringify(user.username)}`;
  const ref = asRecord(spec["boundObjectRef"]);
  const name = asText(ref["name"]);
  if (ref["apiVersion"] !== "v1" || ref["kind"] !== "Pod" || name === "")
    return "node requested token not bound to a pod";
  if (asText(ref["uid"]) === "") return "node requested token with a pod binding without a uid";
  const pod = reader.get("", "pods", namespace, name);
  if (stringAt(pod, "spec", "nodeName") !== node)
    return "node requested token bound to a pod scheduled on a different node";
  const known = audiencesOf(pod);
  const foreign = audiences.find((audience) => !known.has(audience));
  return foreign === undefined ? undefined : `audience ${JSON.stringify(foreign)} not found in pod spec volume`;
}

function audiencesOf(pod: UnstructuredObject | undefined): ReadonlySet<string> {
  const sources = objectsAt(pod, "spec", "volumes").flatMap((volume) => objectsAt(volume, "projected", "sources"));
  return new Set(sources.map((source) => stringAt(source, "serviceAccountToken", "audience")));
}

function refused({ name }: NodeTokenRequest, problem: string): ApiError {
  return forbiddenStatus({ group: "", resource: "serviceaccounts", name }, problem);
}
