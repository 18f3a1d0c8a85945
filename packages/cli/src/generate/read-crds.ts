import { readFileSync } from "node:fs";
import { createKind, decodeYamlText, isNotFound, SetpointError, type UnstructuredObject } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemHost } from "@setpoint/host/system";
import { crdsAmong, type Crd } from "./crd.ts";
import { readUrl } from "./read-url.ts";
import { yamlDocuments } from "../yaml-documents.ts";

/** How to reach the current cluster. */
export interface ClusterChoice {
  readonly kubeconfig?: string;
  readonly context?: string;
}

const clusterPrefix = "cluster/";

/**
 * The CRDs of a file, of a URL, or of the current cluster (`cluster/widgets.example.com`). Throws
 * `ERR_SOURCE_UNREADABLE`, `ERR_NOT_A_CRD` and what the client throws.
 */
export async function readCrds(source: string, cluster: ClusterChoice): Promise<readonly Crd[]> {
  if (source.startsWith(clusterPrefix)) {
    return crdsAmong([await readFromCluster(source.slice(clusterPrefix.length), cluster)], source);
  }
  const text = /^https?:\/\//.test(source) ? await readUrl(source) : readText(source);
  return crdsAmong(parseDocuments(text, source), source);
}

const CustomResourceDefinition = createKind<UnstructuredObject>({
  group: "apiextensions.k8s.io",
  version: "v1",
  kind: "CustomResourceDefinition",
  plural: "customresourcedefinitions",
  namespaced: false,
});

async function readFromCluster(name: string, cluster: ClusterChoice): Promise<unknown> {
  const host = systemHost({ write: () => {} });
  await using transport = connect({ ...cluster, clock: host.clock, userAgent: "setpoint-generate" });
  try {
    return await createClient(transport, host).get(CustomResourceDefinition, { name });
  } catch (error) {
    if (!isNotFound(error)) throw error;
    const message = `Cannot generate types from "${clusterPrefix}${name}": the cluster has no CustomResourceDefinition "${name}"; expected PLURAL.GROUP, as in certificates.cert-manager.io`;
    throw new SetpointError("ERR_SOURCE_UNREADABLE", message);
  }
}

function readText(file: string): string {
  try {
    return decodeYamlText(readFileSync(file));
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function parseDocuments(text: string, source: string): readonly unknown[] {
  try {
    return yamlDocuments(text);
  } catch (cause) {
    throw unreadable(source, cause);
  }
}

function unreadable(source: string, cause: unknown): SetpointError {
  // What follows the first line of yaml's messages is an excerpt.
  const reason = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause);
  return new SetpointError("ERR_SOURCE_UNREADABLE", `Cannot read "${source}": ${reason.replace(/:$/, "")}`);
}
