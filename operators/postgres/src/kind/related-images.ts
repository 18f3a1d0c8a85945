/** The images that the operator lists, so that a registry without internet can hold them. */
import type { RelatedImage } from "setpoint/install";

/** PgBouncer of a PostgresPooler that names no other image. */
export const poolerImage = "ghcr.io/cloudnative-pg/pgbouncer:1.24.1";

export const relatedImages: readonly RelatedImage[] = [
  ...["15", "17"].map((version) => ({
    name: `postgres-${version}`,
    image: `docker.io/library/postgres:${version}`,
  })),
  { name: "pgbouncer", image: poolerImage },
];
