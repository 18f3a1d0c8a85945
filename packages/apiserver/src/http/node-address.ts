/**
 * Finds a pod's node agent and the container's name there, for logs, exec, attach and port-forward.
 */
import { ApiError, failure, type UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import { asRecord, asText, type JsonRecord } from "../auth/read-json.ts";

export interface PodOnNode {
  readonly namespace: string;
  readonly name: string;
  /** Empty when the request names none and needs none. */
  readonly container: string;
  readonly host: string;
  readonly port: number;
}

export interface PodTarget {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  /** False for port-forward, which is to the pod. */
  readonly needsContainer: boolean;
}

/** Where this process reaches an address of a node; absent: there. */
export type AgentHost = (address: string) => string;

/** Throws upstream's ApiError when the pod cannot be reached. */
export function locatePod(reader: ObjectReader, target: PodTarget, hostOf?: AgentHost): PodOnNode {
  const { namespace, name } = target;
  const pod = reader.get("", "pods", namespace, name);
  if (pod === undefined) {
    throw new ApiError(failure(404, "NotFound", `pods "${name}" not found`, { name, kind: "pods" }));
  }
  const container = target.needsContainer ? containerOf(pod, target.container) : "";
  const nodeName = asText(asRecord(pod["spec"])["nodeName"]);
  if (nodeName === "") throw badRequest(`pod ${name} does not have a host assigned`);
  const node = reader.get("", "nodes", "", nodeName);
  if (node === undefined) {
    throw new ApiError(failure(404, "NotFound", `nodes "${nodeName}" not found`, { name: nodeName, kind: "nodes" }));
  }
  return { namespace, name, container, ...agentAddress(node, hostOf) };
}

function containerOf(pod: UnstructuredObject, asked: string): string {
  const spec = asRecord(pod["spec"]);
  const name = pod.metadata.name ?? "";
  const names = (field: string): readonly string[] => {
    const list = spec[field];
    return Array.isArray(list) ? list.map((each) => asText(asRecord(each)["name"])) : [];
  };
  const main = names("containers");
  const others = [...names("initContainers"), ...names("ephemeralContainers")];
  if (asked !== "") {
    if (main.includes(asked) || others.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  const [only] = main;
  if (only !== undefined && main.length === 1) return only;
  const annotated = pod.metadata.annotations?.["kubectl.kubernetes.io/default-container"];
  if (annotated !== undefined && main.includes(annotated)) return annotated;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${main.join(" ")}]`);
}

/** Throws a 503 for a node whose agent has not reported where it listens. */
export function agentAddress(
  node: UnstructuredObject,
  hostOf: AgentHost = (address) => address,
): { readonly host: string; readonly port: number } {
  const status = asRecord(node["status"]);
  const addresses: readonly JsonRecord[] = Array.isArray(status["addresses"]) ? status["addresses"].map(asRecord) : [];
  const byType = (type: string): JsonRecord | undefined => addresses.find((each) => each["type"] === type);
  const host = asText((byType("InternalIP") ?? byType("Hostname"))?.["address"]);
  const port = asRecord(asRecord(status["daemonEndpoints"])["kubeletEndpoint"])["Port"];
  if (host !== "" && typeof port === "number") return { host: hostOf(host), port };
  const message = `node ${node.metadata.name ?? ""} has no address and port of its agent in its status`;
  throw new ApiError(failure(503, "ServiceUnavailable", message));
}

function badRequest(message: string): ApiError {
  return new ApiError(failure(400, "BadRequest", message));
}
