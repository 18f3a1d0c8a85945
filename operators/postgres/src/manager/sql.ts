/** Questions to the server of this pod, over its socket, by psql. */
import type { ManagerClock } from "./manager-clock.ts";
import { firstAccessRuleLine } from "./configuration-files.ts";
import { paths } from "./paths.ts";
import { lastLine, type Programs } from "./programs.ts";

/** A server that needs longer is of no use to a decision. */
const deadlineMs = 3_000;

/** What the server says of itself. */
export interface ServerFacts {
  readonly isPrimary: boolean;
  /** Undefined while a replica still reads what it has on its volume. */
  readonly position: string | undefined;
  readonly replayed: string | undefined;
  readonly timeline: number;
  readonly isStreaming: boolean;
  readonly needsRestart: boolean;
  readonly version: string;
  readonly systemId: string;
}

/**
 * A replica that has just started has received nothing, and its position is known when it has replayed all
 * that its volume has: then it waits for more. The timeline is that of the newest segment of the log; the
 * control file has the one of the last checkpoint, which may be older.
 */
const factsQuery = `select pg_is_in_recovery(),
  case when not pg_is_in_recovery() then pg_current_wal_flush_lsn()
    when pg_last_wal_receive_lsn() is not null or exists (select from pg_stat_activity
      where backend_type = 'startup' and wait_event in ('RecoveryWalStream', 'RecoveryRetrieveRetryInterval'))
    then greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) end,
  case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end,
  (select max(('x' || substr(name, 1, 8))::bit(32)::int) from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'),
  coalesce((select status = 'streaming' from pg_stat_wal_receiver), false),
  exists (select from pg_settings where pending_restart),
  split_part(current_setting('server_version'), ' ', 1),
  (select system_identifier from pg_control_system())`;

/** The server reads its files again for it, and logs what it finds; so it is asked after changes only. */
const settingErrorsQuery = `select 'spec.parameters[' || name || ']: ' || error from pg_file_settings
    where error is not null and name not in (select name from pg_settings where pending_restart)
  union all select 'spec.accessRules[' || line_number - ${firstAccessRuleLine} || ']: ' || error
    from pg_hba_file_rules where error is not null`;

/**
 * What the manager itself writes must not wait for replicas, which may need it to come up; and what it sends
 * is in no log, because it has verifiers of passwords.
 */
const sessionOptions = [
  "synchronous_commit=local",
  "log_statement=none",
  "log_min_duration_statement=-1",
  "log_min_duration_sample=-1",
  "log_transaction_sample_rate=0",
  "log_min_error_statement=panic",
]
  .map((setting) => `-c ${setting}`)
  .join(" ");

/** Probes, reports and steps that come together ask once. */
const freshMs = 300;

export class Sql {
  readonly #programs: Programs;
  readonly #clock: ManagerClock;
  #asked: { readonly atMs: number; readonly facts: Promise<ServerFacts | undefined> } | undefined;

  constructor(programs: Programs, clock: ManagerClock) {
    this.#programs = programs;
    this.#clock = clock;
  }

  /** Undefined while the server does not answer. At most a third of a second old. */
  facts(): Promise<ServerFacts | undefined> {
    const nowMs = this.#clock.monotonic();
    if (this.#asked === undefined || nowMs - this.#asked.atMs > freshMs)
      this.#asked = { atMs: nowMs, facts: this.#askFacts() };
    return this.#asked.facts;
  }

  /** What was asked before counts no more: the server has been changed, or has ended. */
  forget(): void {
    this.#asked = undefined;
  }

  async #askFacts(): Promise<ServerFacts | undefined> {
    const { code, output } = await this.#psql(factsQuery, "postgres", AbortSignal.timeout(deadlineMs));
    return code === 0 ? parseFacts(output) : undefined;
  }

  /** Settings and access rules of the files that the server refuses, with its reason. */
  async settingErrors(): Promise<readonly string[]> {
    const output = await this.run(settingErrorsQuery, "postgres", AbortSignal.timeout(deadlineMs));
    return output === "" ? [] : output.split("\n");
  }

  /** The time by which the server stamps commits, in milliseconds since the epoch. */
  async now(): Promise<number> {
    return Number(await this.run("select ceil(extract(epoch from clock_timestamp()) * 1000)::bigint"));
  }

  /** The rows as lines, columns with tabs between. Rejects with what PostgreSQL complains about. */
  async run(statement: string, database = "postgres", signal?: AbortSignal): Promise<string> {
    const { code, output } = await this.#psql(statement, database, signal);
    if (code !== 0) throw new Error(lastLine(output));
    return output.trimEnd();
  }

  #psql(statement: string, database: string, signal?: AbortSignal): ReturnType<Programs["run"]> {
    const args = ["-X", "-A", "-t", "-q", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-h", paths.socket, "-U", "postgres"];
    // On standard input, so that no statement is in a list of processes.
    return this.#programs.run("psql", [...args, "-d", database, "-f", "-"], {
      input: statement,
      env: { PGCONNECT_TIMEOUT: "2", PGAPPNAME: "setpoint", PGOPTIONS: sessionOptions },
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

/** Throws for a row with other columns than were asked for. */
export function parseFacts(row: string): ServerFacts {
  const [inRecovery, position = "", replayed = "", timeline, streaming, restart, version = "", systemId = ""] = row
    .replace(/\n$/, "")
    .split("\t");
  if (systemId === "") throw new Error(`Cannot read what the server says of itself: ${JSON.stringify(row)}`);
  return {
    isPrimary: inRecovery === "f",
    position: position === "" ? undefined : position,
    replayed: replayed === "" ? undefined : replayed,
    timeline: Number(timeline),
    isStreaming: streaming === "t",
    needsRestart: restart === "t",
    version,
    systemId,
  };
}
