/** The images that the operator lists, so that a registry without internet can hold them. */
import type { RelatedImage } from "setpoint/install";

export const relatedImages: readonly RelatedImage[] = ["15", "17"].map((version) => ({
  name: `postgres-${version}`,
  image: `docker.io/library/postgres:${version}`,
}));
