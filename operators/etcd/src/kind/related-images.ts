/**
 * The images of etcd that the operator lists, so that a registry without internet can hold them. Other
 * patches of the supported minors run too; their images are `REPOSITORY:vVERSION`.
 */
import type { RelatedImage } from "setpoint/install";
import { relatedImageVariable } from "setpoint/install";
import { defaultRepository } from "./etcd-cluster.ts";

/** The patches that the tests run with real processes; 3.6 is reached from the last but one. */
export const listedVersions: readonly string[] = ["3.4.23", "3.5.16", "3.5.35", "3.6.16"];

/** Backups use these images too: `etcdutl` is in them. */
export const relatedImages: readonly RelatedImage[] = listedVersions.map((version) => ({
  name: nameOf(version),
  image: `${defaultRepository}:v${version}`,
}));

/** Images by version that the operator's Deployment gives it, in place of those of the default repository. */
export type PinnedImages = ReadonlyMap<string, string>;

export function pinnedImages(environment: Readonly<Record<string, string | undefined>>): PinnedImages {
  return new Map(
    listedVersions.flatMap((version) => {
      const image = environment[relatedImageVariable(nameOf(version))];
      return image === undefined || image === "" ? [] : [[version, image] as const];
    }),
  );
}

function nameOf(version: string): string {
  return `etcd-${version}`;
}
