/** The server that the first start imports from, by PostgreSQL's own clients. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ImportedServer } from "../../instance/instance-protocol.ts";
import { importFiles, importPath } from "../../kind/names.ts";
import { lastLine, type Programs } from "../programs.ts";

const questionMsMax = 30_000;
const connectSeconds = 10;

export class SourceServer {
  readonly #programs: Programs;
  readonly #server: ImportedServer;

  constructor(programs: Programs, server: ImportedServer) {
    this.#programs = programs;
    this.#server = server;
  }

  /** As people name it. */
  get name(): string {
    return `${this.#server.host}:${this.#server.port}`;
  }

  /** The databases that clients may connect to, but for the one that each server has. */
  async databases(signal: AbortSignal): Promise<readonly string[]> {
    return this.json<readonly string[]>(
      "select coalesce(json_agg(datname order by datname), '[]') from pg_database where datallowconn and not datistemplate and datname <> 'postgres'",
      signal,
    );
  }

  /** What a question answers that makes one JSON value. */
  async json<T>(question: string, signal: AbortSignal): Promise<T> {
    const args = ["-X", "-A", "-t", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-d", this.#connection(), "-f", "-"];
    const { code, output } = await this.#programs.run("psql", args, {
      input: question,
      env: environment(),
      signal: AbortSignal.any([signal, AbortSignal.timeout(questionMsMax)]),
    });
    if (code !== 0) throw new Error(`Cannot import from ${this.name}: ${lastLine(output)}`);
    return JSON.parse(output) as T;
  }

  /** Writes one database into a folder, as pg_restore reads it. */
  async dump(database: string, folder: string, { jobs, signal }: DumpOptions): Promise<void> {
    const args = ["-w", "-d", this.#connection(database), "-Fd", "-j", String(jobs), "-f", folder];
    const { code, output } = await this.#programs.run("pg_dump", args, { env: environment(), signal });
    if (code !== 0) throw new Error(`Cannot import the database "${database}" of ${this.name}: ${lastLine(output)}`);
  }

  #connection(database = this.#server.database): string {
    const { host, port, user, sslMode } = this.#server;
    const ca = join(importPath, importFiles.ca);
    const fields = {
      host,
      port: String(port),
      user,
      dbname: database,
      sslmode: sslMode,
      ...(existsSync(ca) ? { sslrootcert: ca } : {}),
      connect_timeout: String(connectSeconds),
      application_name: "setpoint import",
    };
    return Object.entries(fields)
      .map(([name, value]) => `${name}='${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`)
      .join(" ");
  }
}

export interface DumpOptions {
  readonly jobs: number;
  readonly signal: AbortSignal;
}

/** The file changes when the Secret does. */
function environment(): NodeJS.ProcessEnv {
  return { PGPASSWORD: readFileSync(join(importPath, importFiles.password), "utf8").trim() };
}
