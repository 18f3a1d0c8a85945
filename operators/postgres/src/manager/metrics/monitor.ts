/** Asks the server of this pod for its metrics, as a role that may read statistics and nothing else. */
import { statfsSync } from "node:fs";
import { monitorRole, paths } from "../paths.ts";
import type { InstanceManager } from "../instance-manager.ts";
import type { Programs } from "../programs.ts";
import type { Sql } from "../sql.ts";
import { parseSamples, type Sample } from "./exposition.ts";
import { metricsQuery } from "./metrics-query.ts";

/** Prometheus gives up after ten seconds, and a statement that waits holds up the next scrape. */
const statementMsMax = 4_000;
const deadlineMs = 6_000;
const sessionOptions = [
  "default_transaction_read_only=on",
  `statement_timeout=${statementMsMax}`,
  `lock_timeout=${statementMsMax / 4}`,
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

export interface MonitorParts {
  readonly manager: InstanceManager;
  readonly sql: Sql;
  readonly programs: Programs;
}

export class Monitor {
  readonly #parts: MonitorParts;
  /** Scrapes that come together ask once. */
  #asking: Promise<readonly Sample[]> | undefined;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  samples(): Promise<readonly Sample[]> {
    this.#asking ??= this.#ask().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask(): Promise<readonly Sample[]> {
    const { manager, sql } = this.#parts;
    const { desired, name } = manager;
    const facts = await sql.facts();
    const rows = facts === undefined ? undefined : await this.#rows(Number.parseInt(facts.version, 10));
    const own = [
      sample("postgres_up", rows === undefined ? 0 : 1),
      sample("postgres_fenced", desired?.fenced?.includes(name) === true ? 1 : 0),
      sample("postgres_term", desired?.term ?? 0),
      ...volumeSamples(),
    ];
    if (facts === undefined || rows === undefined) return own;
    return [
      ...own,
      sample("postgres_in_recovery", facts.isPrimary ? 0 : 1),
      sample("postgres_timeline", facts.timeline),
      sample("postgres_start_time_seconds", Number(facts.startedAt)),
      sample("postgres_pending_restart_settings", facts.pendingRestart.length),
      ...parseSamples(rows),
    ];
  }

  /** Undefined when the server does not answer in time, or does not know the role yet. */
  async #rows(major: number): Promise<string | undefined> {
    const args = ["-X", "-A", "-t", "-q", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", paths.socket, "-U", monitorRole];
    const { code, output } = await this.#parts.programs.run("psql", [...args, "-d", "postgres", "-f", "-"], {
      input: metricsQuery(major),
      env: { PGCONNECT_TIMEOUT: "2", PGAPPNAME: "setpoint-metrics", PGOPTIONS: sessionOptions },
      signal: AbortSignal.timeout(deadlineMs),
    });
    return code === 0 ? output : undefined;
  }
}

function volumeSamples(): readonly Sample[] {
  const { bsize, blocks, bavail } = statfsSync(paths.volume);
  return [
    sample("postgres_volume_size_bytes", bsize * blocks),
    sample("postgres_volume_available_bytes", bsize * bavail),
  ];
}

function sample(name: string, value: number): Sample {
  return { name, labels: {}, value: String(value) };
}
