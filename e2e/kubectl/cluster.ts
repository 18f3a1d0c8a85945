/** A running cluster with one node and the etcd operator in it, and kubectl for it. */
import { startCluster } from "@setpoint/cli";
import { Kubectl } from "./kubectl.ts";

export const operatorManifests: string = new URL("../../operators/etcd/manifests/install.yaml", import.meta.url)
  .pathname;

export interface ClusterWithKubectl extends AsyncDisposable {
  readonly url: string;
  readonly kubectl: Kubectl;
  /** For other programs that read a kubeconfig. */
  readonly env: Readonly<Record<string, string>>;
}

export async function startClusterWithKubectl(): Promise<ClusterWithKubectl> {
  await using parts = new AsyncDisposableStack();
  const cluster = parts.use(await startCluster({ directory: undefined, port: 0, nodes: 1, say: () => {} }));
  const kubectl = parts.use(new Kubectl(cluster.kubeconfig));
  await kubectl.ok(`apply --server-side -f ${operatorManifests}`);
  await kubectl.ok("wait --for=condition=Available deployment/etcd-operator -n setpoint-system --timeout=60s");
  const moved = parts.move();
  return { url: cluster.url, kubectl, env: kubectl.env, [Symbol.asyncDispose]: () => moved.disposeAsync() };
}
