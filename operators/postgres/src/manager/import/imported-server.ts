/** The server that the first start imports from, by PostgreSQL's own clients. */
import type { OtherServer } from "../../instance/instance-protocol.ts";
import { complaintOf, connectionTo, nameOf } from "../other-server/connection.ts";
import { lastLine, type Programs } from "../programs.ts";

const questionMsMax = 30_000;

export class ImportedServer {
  readonly #programs: Programs;
  readonly #server: OtherServer;

  constructor(programs: Programs, server: OtherServer) {
    this.#programs = programs;
    this.#server = server;
  }

  /** As people name it. */
  get name(): string {
    return nameOf(this.#server);
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
      signal: AbortSignal.any([signal, AbortSignal.timeout(questionMsMax)]),
    });
    if (code !== 0) throw new Error(`Cannot import from ${this.name}: ${complaintOf(output)}`);
    return JSON.parse(output) as T;
  }

  /** Writes one database into a folder, as pg_restore reads it. */
  async dump(database: string, folder: string, { jobs, signal }: DumpOptions): Promise<void> {
    const args = ["-w", "-d", this.#connection({ dbname: database }), "-Fd", "-j", String(jobs), "-f", folder];
    const { code, output } = await this.#programs.run("pg_dump", args, { signal });
    if (code !== 0) throw new Error(`Cannot import the database "${database}" of ${this.name}: ${lastLine(output)}`);
  }

  #connection(more: Readonly<Record<string, string>> = {}): string {
    return connectionTo(this.#server, { application_name: "setpoint import", ...more });
  }
}

export interface DumpOptions {
  readonly jobs: number;
  readonly signal: AbortSignal;
}
