/** The image of a member, and the version that a pod's image has. */
import type { Pod } from "setpoint/kinds";
import { defaultRepository, type EtcdCluster } from "../kind/etcd-cluster.ts";
import { labels } from "../kind/member-names.ts";
import type { PinnedImages } from "../kind/related-images.ts";

/** A pinned image counts for clusters that name no repository of their own. */
export function memberImage({ spec }: EtcdCluster, version: string, pinned: PinnedImages): string {
  const usual = `${spec.imageRepository}:v${version}`;
  return spec.imageRepository === defaultRepository ? (pinned.get(version) ?? usual) : usual;
}

/**
 * The version of a pod's etcd. A pinned image may be a digest, which names none: then an annotation says it.
 */
export function podVersion(pod: Pod | undefined): string | undefined {
  const tag = /:v?([0-9]+\.[0-9]+\.[0-9]+)(@[a-z0-9]+:[0-9a-f]+)?$/.exec(pod?.spec?.containers[0]?.image ?? "")?.[1];
  return tag ?? pod?.metadata.annotations?.[labels.version];
}

export function versionAnnotation(version: string): Readonly<Record<string, string>> {
  return { [labels.version]: version };
}
