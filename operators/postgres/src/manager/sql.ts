/** Questions to the server of this pod, over its socket, by psql. */
import type { ManagerClock } from "./manager-clock.ts";
import { type ServerLimits, serverLimits } from "../instance/server-limits.ts";
import { firstAccessRuleLine } from "./configuration-files.ts";
import { paths } from "./paths.ts";
import { lastLine, type Programs } from "./programs.ts";
import { literal } from "./sql-text.ts";

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
  readonly pendingRestart: readonly string[];
  readonly startedAt: string;
  readonly limits: ServerLimits;
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
  (select string_agg(name, ',' order by name) from pg_settings where pending_restart),
  extract(epoch from pg_postmaster_start_time()),
  (select string_agg(name || '=' || setting, ',') from pg_settings where name in (${serverLimits.map(literal).join(", ")})),
  split_part(current_setting('server_version'), ' ', 1),
  (select system_identifier from pg_control_system())`;

/**
 * Of the files as they are, read or not: settings of extensions, whose libraries this server has loaded, and
 * access rules. The server logs what it finds, so it is asked after changes only.
 */
const fileErrorsQuery = `select 'spec.parameters[' || name || ']: ' || file.error || ', the value is "' || file.setting || '"'
    from pg_file_settings file join pg_settings using (name)
    where file.error is not null and name like '%.%' and context <> 'postmaster'
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

function expectationsQuery(names: readonly string[]): string {
  return `select lower(name), case vartype when 'bool' then 'on or off'
      when 'enum' then 'one of ' || array_to_string(enumvals, ', ')
      else (case vartype when 'integer' then 'a whole number' else 'a number' end)
        || ' from ' || min_val || ' to ' || max_val || coalesce(' in ' || unit || ', or with a unit', '') end
    from pg_settings where vartype <> 'string' and lower(name) in (${names.map(literal).join(", ")})`;
}

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

  /** What the server would refuse of the files as they are, with its reason. */
  async fileErrors(): Promise<readonly string[]> {
    return linesOf(await this.run(fileErrorsQuery, "postgres", AbortSignal.timeout(deadlineMs)));
  }

  /** What PostgreSQL expects of these settings, in words. */
  async expectations(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (names.length === 0) return new Map();
    const output = await this.run(expectationsQuery(names), "postgres", AbortSignal.timeout(deadlineMs));
    return new Map(linesOf(output).map((line) => line.split("\t") as [string, string]));
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
  const [
    inRecovery,
    position = "",
    replayed = "",
    timeline,
    streaming,
    pending = "",
    startedAt = "",
    limits = "",
    version = "",
    systemId = "",
  ] = row.replace(/\n$/, "").split("\t");
  if (systemId === "") throw new Error(`Cannot read what the server says of itself: ${JSON.stringify(row)}`);
  return {
    isPrimary: inRecovery === "f",
    position: position === "" ? undefined : position,
    replayed: replayed === "" ? undefined : replayed,
    timeline: Number(timeline),
    isStreaming: streaming === "t",
    pendingRestart: pending === "" ? [] : pending.split(","),
    startedAt,
    limits: parseLimits(limits),
    version,
    systemId,
  };
}

/** `max_connections=100,max_wal_senders=20`. */
function parseLimits(text: string): ServerLimits {
  const pairs = text === "" ? [] : text.split(",").map((each) => each.split("="));
  return Object.fromEntries(pairs.map(([name = "", value]) => [name, Number(value)]));
}

function linesOf(output: string): readonly string[] {
  return output === "" ? [] : output.split("\n");
}
