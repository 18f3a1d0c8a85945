/** The program in PostgreSQL's transfer pods. */
import { runAgent } from "@setpoint/data-service/agent";
import { postgresAgent } from "./postgres-agent.ts";

/** Resolves with the exit code. */
export function runPostgresAgent(): Promise<number> {
  return runAgent({ postgres: postgresAgent });
}
