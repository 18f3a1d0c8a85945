/** What an autoscaler scales. */
import type { HorizontalPodAutoscaler } from "@setpoint/api";
import { gvkOf } from "@setpoint/apimachinery";
import { type DiscoveredResource, readScale, type Scale, type Stored } from "@setpoint/client";
import { outcome, type ReconcileContext } from "@setpoint/runtime";

export interface ScaleTarget {
  readonly kind: DiscoveredResource;
  readonly scale: Scale;
}

/** The target, or the sentence why it cannot be scaled. Any served version of its kind has the same scale. */
export async function findTarget(
  autoscaler: Stored<HorizontalPodAutoscaler>,
  { client, signal }: ReconcileContext,
): Promise<ScaleTarget | string> {
  const { scaleTargetRef: ref } = autoscaler.spec;
  const wanted = gvkOf({ apiVersion: ref.apiVersion ?? "v1", kind: ref.kind });
  const served = (await client.discover({ signal })).resources.filter(
    (each) => each.kind === wanted.kind && each.group === wanted.group,
  );
  const kind = served.find(({ version }) => version === wanted.version) ?? served[0];
  if (kind === undefined) return `no matches for kind ${JSON.stringify(wanted.kind)} in group "${wanted.group}"`;
  const key = { name: ref.name, namespace: autoscaler.metadata.namespace ?? "" };
  const read = await outcome(readScale(client, kind, key, { signal }));
  if (read.kind === "unknown") throw read.error;
  return read.kind === "done" ? { kind, scale: read.object } : read.error.message;
}
