/** How a transfer pod reaches the instances of a PostgresCluster; both halves of the engine know it. */
import { z } from "zod";

/** `EngineControl.source` of PostgreSQL: hosts of instances, in the order in which they are asked. */
export const postgresSource = z.object({ hosts: z.array(z.string().min(1)).min(1), serverName: z.string() });
