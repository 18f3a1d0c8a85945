/** A cluster as `setpoint up` starts it, as a place for stories. */
import { startCluster } from "@setpoint/cli";
import type { Place } from "./play.ts";

export async function startOurPlace(): Promise<Place & AsyncDisposable> {
  const cluster = await startCluster({ directory: undefined, port: 0, nodes: 1, say: () => {} });
  return {
    kubeconfig: cluster.kubeconfig,
    names: { node: "node-1", server: cluster.url },
    enter: [],
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}
