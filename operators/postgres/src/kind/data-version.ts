/** The major version of the data, which a cluster runs on until they are upgraded; pure. */
import type { PostgresCluster } from "./postgres-cluster.ts";

type Spec = PostgresCluster["spec"];
type Version = Spec["version"];

/** Operators of before wrote no `dataVersion`. */
export function dataVersionOf({ spec, status }: PostgresCluster): Version {
  const running = status?.currentVersion?.split(".")[0];
  return status?.dataVersion ?? (running === "15" || running === "17" ? running : spec.version);
}

/** A spec as the data allow it: with their version, and the image that goes with them. */
export function onDataVersion(spec: Spec, cluster: PostgresCluster): Spec {
  const version = dataVersionOf(cluster);
  if (spec.version === version) return spec;
  const { image: _, ...rest } = spec;
  const image = cluster.status?.dataImage;
  return { ...rest, version, ...(image === undefined ? {} : { image }) };
}
