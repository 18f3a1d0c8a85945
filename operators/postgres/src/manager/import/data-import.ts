/**
 * Fills new data with the databases and roles of a server that runs. It works in the folder under
 * construction, with a server that nobody else reaches: what was half imported when the process ended is
 * thrown away, and done again.
 */
import { mkdirSync, rmSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import type { WantedImport } from "../../instance/instance-protocol.ts";
import type { WantedDatabase } from "../inner-objects.ts";
import { paths } from "../paths.ts";
import { lastLine, type Programs } from "../programs.ts";
import { identifier } from "../sql-text.ts";
import { ImportedServer } from "./imported-server.ts";
import {
  type Membership,
  membershipsQuery,
  rolesQuery,
  roleStatements,
  rolesToMake,
  type SourceRole,
} from "./role-statements.ts";

const jobsMax = 4;
const ownerOnly = 0o700;
/** No log for replicas, which copy the data later; the rest as usual, so that nothing is lost after it. */
const serverOptions = [
  "-c listen_addresses=''",
  `-c unix_socket_directories=${paths.importSocket}`,
  "-c wal_level=minimal",
  "-c max_wal_senders=0",
  "-c max_wal_size=4GB",
  "-c log_statement=none",
  "-c log_min_duration_statement=-1",
  "-c log_min_error_statement=panic",
].join(" ");

export interface ImportOptions {
  /** The data under construction. */
  readonly folder: string;
  /** The application's database. */
  readonly database: WantedDatabase;
  readonly signal: AbortSignal;
  /** Called with what goes on, in a few words. */
  say(this: void, message: string): void;
}

export class DataImport {
  readonly #programs: Programs;

  constructor(programs: Programs) {
    this.#programs = programs;
  }

  /** Rejects with what the other server, pg_dump or pg_restore complains about. */
  async run(wanted: WantedImport, { folder, database, say, signal }: ImportOptions): Promise<void> {
    const source = new ImportedServer(this.#programs, wanted.from);
    say(`importing from ${source.name}`);
    const names = databasesToImport(wanted.databases, await source.databases(signal), source.name);
    const roles = wanted.isMicroservice ? undefined : await rolesOf(source, wanted, signal);
    await using server = await this.#serve(folder, signal);
    if (roles !== undefined) await server.run(roles);
    else await server.run(applicationText(database));
    for (const [at, name] of names.entries()) {
      say(`importing database ${name} from ${source.name} (${at + 1} of ${names.length})`);
      await this.#copy(source, name, wanted.isMicroservice ? database : undefined, signal);
    }
    say("gathering statistics of the imported databases");
    await this.#run("vacuumdb", ["--all", "--analyze-only", "-j", String(jobs())], signal);
  }

  /** Into a database of its own name, or into that of the application. */
  async #copy(
    source: ImportedServer,
    name: string,
    into: WantedDatabase | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    rmSync(paths.dump, { recursive: true, force: true });
    try {
      await source.dump(name, paths.dump, { jobs: jobs(), signal });
      const target =
        into === undefined
          ? ["--create", "-d", "postgres"]
          : ["--no-owner", "--no-privileges", `--role=${into.owner}`, "-d", into.name];
      await this.#run("pg_restore", ["--exit-on-error", "-j", String(jobs()), ...target, paths.dump], signal);
    } finally {
      rmSync(paths.dump, { recursive: true, force: true });
    }
  }

  async #serve(folder: string, signal: AbortSignal): Promise<ImportServer> {
    rmSync(paths.importSocket, { recursive: true, force: true });
    mkdirSync(paths.importSocket, { recursive: true, mode: ownerOnly });
    const log = join(paths.importSocket, "log");
    await this.#run("pg_ctl", ["-D", folder, "-w", "-s", "-l", log, "-o", serverOptions, "start"], signal, false);
    return {
      run: async (statements) =>
        void (await this.#run(
          "psql",
          ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", "postgres", "-f", "-"],
          signal,
          true,
          statements,
        )),
      // Also when the process is asked to end: a server that is left would hold the folder.
      [Symbol.asyncDispose]: async () => {
        await this.#programs.run("pg_ctl", ["-D", folder, "-w", "-s", "-m", "fast", "stop"]);
      },
    };
  }

  async #run(
    program: string,
    args: readonly string[],
    signal: AbortSignal,
    connects = true,
    input = "",
  ): Promise<void> {
    const connection = connects ? ["-h", paths.importSocket, "-U", "postgres"] : [];
    const { code, output } = await this.#programs.run(program, [...connection, ...args], { signal, input });
    signal.throwIfAborted();
    if (code !== 0) throw new Error(`${program} ended with ${code}: ${lastLine(output)}`);
  }
}

interface ImportServer extends AsyncDisposable {
  /** Runs statements as the superuser; they are in no log, because they have verifiers of passwords. */
  run(statements: string): Promise<void>;
}

function jobs(): number {
  return Math.max(1, Math.min(jobsMax, cpus().length));
}

/** `*` stands for all; throws for one that does not exist. */
export function databasesToImport(
  wanted: readonly string[],
  present: readonly string[],
  server: string,
): readonly string[] {
  if (wanted.includes("*")) return present;
  const missing = wanted.find((each) => !present.includes(each));
  if (missing === undefined) return wanted;
  const known = present.length === 0 ? "none" : present.join(", ");
  throw new Error(
    `spec.bootstrap.import.databases: ${server} has no database "${missing}" that clients may connect to; it has ${known}`,
  );
}

async function rolesOf(source: ImportedServer, wanted: WantedImport, signal: AbortSignal): Promise<string> {
  const all = await source
    .json<readonly SourceRole[]>(rolesQuery(wanted.hasRolePasswords), signal)
    .catch((error: unknown) => {
      throw wanted.hasRolePasswords && /pg_authid/.test(String(error))
        ? new Error(
            `${source.name} shows passwords of roles to superusers only: import as one, or set spec.bootstrap.import.rolePasswords to false and give the roles new passwords`,
          )
        : error;
    });
  const missing = wanted.roles.find((each) => each !== "*" && !all.some(({ name }) => name === each));
  if (missing !== undefined) throw new Error(`spec.bootstrap.import.roles: ${source.name} has no role "${missing}"`);
  return roleStatements(
    rolesToMake(all, wanted.roles),
    await source.json<readonly Membership[]>(membershipsQuery, signal),
  );
}

function applicationText({ name, owner }: WantedDatabase): string {
  return `create role ${identifier(owner)} login;\ncreate database ${identifier(name)} owner ${identifier(owner)};`;
}
