/** Volumes that show the files of an image. */
import type { Pod, Volume } from "@setpoint/api";
import { nodeError } from "../errors.ts";
import type { LocalImage } from "../images/image.ts";
import type { PullSecret } from "../images/registry/pull-credentials.ts";
import type { PreparedVolume } from "./pod-volumes.ts";

export interface VolumeImages {
  has(name: string): boolean;
  ensure(
    name: string,
    request: { readonly isFresh: boolean; readonly secrets: () => Promise<readonly PullSecret[]> },
  ): Promise<Pick<LocalImage, "rootDirectory">>;
  /** Of the pod. */
  pullSecrets(pod: Pod): Promise<readonly PullSecret[]>;
}

/** Files of the image's user 0 belong to user 0 of the pod, and nobody can write there. */
export async function imageVolume(
  images: VolumeImages,
  pod: Pod,
  source: NonNullable<Volume["image"]>,
): Promise<PreparedVolume> {
  const { reference = "", pullPolicy = "IfNotPresent" } = source;
  if (pullPolicy === "Never" && !images.has(reference))
    throw nodeError("ERR_CONTAINER_CONFIG", `Container image "${reference}" is not present with pull policy of Never`);
  const request = { isFresh: pullPolicy === "Always", secrets: () => images.pullSecrets(pod) };
  const { rootDirectory } = await images.ensure(reference, request);
  return { source: rootDirectory, readOnly: true, ownIds: true };
}
