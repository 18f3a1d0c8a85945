/**
 * Copies all files of a server outside of the cluster, by pg_basebackup, and makes them the data of this one:
 * on a timeline of their own, with the superuser whom the instance manager logs in as, and with no other
 * superuser who can log in.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { OtherServer } from "../../instance/instance-protocol.ts";
import { lastLine, type Programs } from "../programs.ts";
import { complaintOf, connectionTo, nameOf } from "./connection.ts";

const questionMsMax = 30_000;
const field = "spec.bootstrap.baseBackup.from";

export interface CopyOptions {
  /** Where the data come, an empty folder. */
  readonly folder: string;
  readonly signal: AbortSignal;
  /** Called with what goes on, in a few words. */
  say(this: void, message: string): void;
}

/** Its own settings count for nothing here, and some of them name files that do not exist. */
const recoverySettings = {
  restore_command: "false",
  recovery_target_timeline: "latest",
  hot_standby: "off",
  archive_mode: "off",
  log_statement: "none",
  log_min_error_statement: "panic",
};

/**
 * Alone with the data, the server takes everybody for the superuser that initdb made, whatever its name. That
 * one stays a superuser, as PostgreSQL wants it, and cannot log in.
 */
const superuserStatement = `do $x$ declare each record; begin
  if not exists (select from pg_roles where rolname = 'postgres') then create role postgres; end if;
  alter role postgres with superuser login createdb createrole replication bypassrls password null;
  for each in select rolname, oid from pg_authid where rolsuper and rolname <> 'postgres' loop
    if each.oid = 10 then execute format('alter role %I nologin', each.rolname);
    else execute format('alter role %I nosuperuser', each.rolname); end if;
  end loop;
end $x$`;

export class BaseCopy {
  readonly #programs: Programs;

  constructor(programs: Programs) {
    this.#programs = programs;
  }

  /** Rejects with the field that is wrong, and with what the other server or PostgreSQL's programs say. */
  async run(from: OtherServer, { folder, say, signal }: CopyOptions): Promise<void> {
    say(`copying the data of ${nameOf(from)}`);
    await this.#checkVersion(from, signal);
    const connection = connectionTo(from, { application_name: "setpoint copy" });
    const args = ["-d", connection, "-D", folder, "-X", "stream", "-c", "fast", "--no-password"];
    const { code, output } = await this.#programs.run("pg_basebackup", args, { signal });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(refusalOf(from, complaintOf(output)));
    say(`making the data of ${nameOf(from)} a cluster of their own`);
    forgetServer(folder);
    await this.#recover(folder, signal);
  }

  async #checkVersion(from: OtherServer, signal: AbortSignal): Promise<void> {
    const connection = connectionTo(from, { replication: "true", application_name: "setpoint copy" });
    const { code, output } = await this.#programs.run(
      "psql",
      ["-X", "-A", "-t", "-w", "-v", "ON_ERROR_STOP=1", "-d", connection, "-f", "-"],
      {
        // A sender of the log knows its words in capitals alone.
        input: "SHOW server_version_num",
        signal: AbortSignal.any([signal, AbortSignal.timeout(questionMsMax)]),
      },
    );
    if (code !== 0) throw new Error(refusalOf(from, complaintOf(output)));
    const theirs = Math.floor(Number(output.trim()) / 10_000);
    const own = await this.#ownVersion(signal);
    if (theirs !== own) throw new Error(versionText(nameOf(from), theirs, own));
  }

  async #ownVersion(signal: AbortSignal): Promise<number> {
    const { output } = await this.#programs.run("postgres", ["--version"], { signal });
    return Number(/\(PostgreSQL\) (\d+)/.exec(output)?.[1]);
  }

  /** Replays the log that came along, up to its end. */
  async #recover(folder: string, signal: AbortSignal): Promise<void> {
    const settings = Object.entries(recoverySettings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const args = ["--single", "-D", folder, ...settings, "postgres"];
    // A line is a statement.
    const input = `${superuserStatement.replaceAll("\n", " ")}\n`;
    const { code, output } = await this.#programs.run("postgres", args, { input, signal });
    signal.throwIfAborted();
    const problem = /(ERROR|FATAL|PANIC): .*/.exec(output)?.[0];
    if (code !== 0 || problem !== undefined)
      throw new Error(`Cannot make the copied data a cluster of their own: ${problem ?? lastLine(output)}`);
  }
}

/** What is of the other server, and not of its databases. */
function forgetServer(folder: string): void {
  for (const name of ["standby.signal", "setpoint.settings.json"]) rmSync(join(folder, name), { force: true });
  for (const name of ["postgresql.conf", "postgresql.auto.conf", "pg_hba.conf", "pg_ident.conf", "recovery.signal"])
    writeFileSync(join(folder, name), "");
}

export function versionText(server: string, theirs: number, own: number): string {
  return `spec.version: ${own}, and ${server} runs PostgreSQL ${theirs}, whose files only PostgreSQL ${theirs} reads; expected the version of that server, or spec.bootstrap.import instead of baseBackup`;
}

/** Which field is wrong, and what is expected there. */
export function refusalOf(from: OtherServer, complaint: string): string {
  const name = nameOf(from);
  if (/password authentication failed|no password supplied|certificate authentication failed/.test(complaint))
    return `${field}.user: ${name} refuses the login of "${from.user}": ${complaint}; expected a user whose password or certificate the Secrets of ${field} have`;
  if (/no pg_hba\.conf entry|pg_hba\.conf rejects/.test(complaint))
    return `${field}.user: ${name} lets nobody in who replicates as "${from.user}": ${complaint}; expected a line of its pg_hba.conf for the database replication and this user`;
  if (/must be superuser or replication role|permission denied to start WAL sender/.test(complaint))
    return `${field}.user: "${from.user}" may not read the files of ${name}: ${complaint}; expected a user with the attribute REPLICATION`;
  return `${field}: cannot copy the data of ${name}: ${complaint}`;
}
