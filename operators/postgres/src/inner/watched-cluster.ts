/** Wakes the objects of a PostgresCluster when what they depend on changes. */
import { type KindRef, type KubeObject, keyOf, watching } from "setpoint";
import { PostgresCluster } from "../kind/postgres-cluster.ts";
import { servingFacts } from "./served-cluster.ts";

interface OfCluster extends KubeObject {
  readonly spec: { readonly cluster: string };
}

export function watchCluster<T extends OfCluster>(kind: KindRef<T>): ReturnType<typeof watching> {
  return watching(
    PostgresCluster,
    ({ metadata: { name, namespace } }, cache) =>
      cache
        .list(kind, { namespace })
        .filter(({ spec }) => spec.cluster === name)
        .map(keyOf),
    { predicate: (old, next) => servingFacts(old) !== servingFacts(next) },
  );
}
