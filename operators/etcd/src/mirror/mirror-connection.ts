/** What a mirror's pod connects to, or what is missing for it; pure. */
import type { ConsentProblem } from "@setpoint/data-service";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { externalEtcd } from "../engine/external-etcd.ts";
import { clientPort } from "../kind/member-names.ts";
import { clientServiceName } from "../resources/services.ts";
import { withTlsMode } from "../resources/tls.ts";
import type { EtcdMirror } from "./etcd-mirror.ts";
import type { MirrorConnection } from "./mirror-deployment.ts";
import { recordKeyOf } from "./mirror-record.ts";

/** The clusters that a mirror names; undefined for one that does not exist. */
export interface NamedClusters {
  readonly source: EtcdCluster | undefined;
  readonly destination: EtcdCluster | undefined;
}

export interface Missing {
  readonly reason: "Waiting" | "Invalid" | "OppositeMirror" | ConsentProblem["reason"];
  readonly message: string;
  /** A pod that runs already goes on as it is: what is missing comes by itself. */
  readonly keepsPod?: boolean;
}

interface End {
  readonly endpoints: string[];
  readonly secrets: readonly string[];
}

export function mirrorConnection(mirror: EtcdMirror, clusters: NamedClusters): MirrorConnection | Missing {
  const { cluster, prefix, destinationPrefix = prefix, existingKeys } = mirror.spec;
  const source = sourceEnd(mirror, clusters.source);
  if ("reason" in source) return source;
  const destination = clusterEnd(cluster, clusters.destination);
  if ("reason" in destination) return destination;
  return {
    request: {
      ...{ source: source.endpoints, destination: destination.endpoints, prefix, destinationPrefix },
      recordKey: recordKeyOf(mirror.metadata.uid ?? ""),
      replacesKeys: existingKeys === "Replace",
    },
    sourceSecrets: source.secrets,
    destinationSecrets: destination.secrets,
  };
}

function sourceEnd({ spec: { source } }: EtcdMirror, cluster: EtcdCluster | undefined): End | Missing {
  if (source.external === undefined) return clusterEnd(source.cluster ?? "", cluster);
  const refusal = externalEtcd.refusal(source.external);
  if (refusal !== undefined) return { reason: "Invalid", message: `spec.source.external.${refusal}` };
  const { secretNames = [] } = externalEtcd.source(source.external);
  return { endpoints: [...source.external.endpoints], secrets: secretNames };
}

/** A cluster that has begun stays an end while it does not serve: the pod tries again by itself. */
function clusterEnd(name: string, cluster: EtcdCluster | undefined): End | Missing {
  if (cluster === undefined) return { reason: "Waiting", message: `EtcdCluster "${name}" does not exist` };
  const { status, metadata } = cluster;
  if (status?.currentVersion === undefined)
    return { reason: "Waiting", message: `EtcdCluster "${name}" has not started` };
  if (cluster.spec.auth?.enabled === true && status.auth?.rootSecret === undefined)
    return { reason: "Waiting", message: `EtcdCluster "${name}" has no login of root yet`, keepsPod: true };
  const scheme = withTlsMode(cluster, []).spec.tls?.mode === "Enabled" ? "https" : "http";
  const url = `${scheme}://${clientServiceName(name)}.${metadata.namespace ?? ""}.svc:${clientPort}`;
  const secrets = [status.tls?.clientSecret, status.auth?.rootSecret].filter((each) => each !== undefined);
  return { endpoints: [url], secrets };
}
