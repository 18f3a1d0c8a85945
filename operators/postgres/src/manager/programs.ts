/** PostgreSQL's own programs: where an image has them, and how they are run. */
import { execFile, execFileSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { dirname, join } from "node:path";
import { nextProgramsPath } from "../kind/names.ts";

/** Debian has a folder for each major version; others have the programs in the PATH. */
const candidates = (): readonly string[] => [
  ...globSync("/usr/lib/postgresql/*/bin").toSorted().toReversed(),
  ...(process.env["PATH"] ?? "").split(":"),
];

export interface Finished {
  readonly code: number;
  readonly output: string;
}

export class Programs {
  readonly #folder: string;
  #majorVersion: string | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Those of this image; throws when it has none. */
  static find(): Programs {
    const folder = candidates().find((each) => existsSync(join(each, "postgres")));
    if (folder === undefined)
      throw new Error(
        "Cannot find the program postgres in /usr/lib/postgresql or the PATH: use an image of PostgreSQL",
      );
    return new Programs(folder);
  }

  /** Those of the next major version, which another image brought into this pod; undefined without them. */
  static findNext(version: string): Programs | undefined {
    const folders = globSync(`${nextProgramsPath}/**/bin/pg_upgrade`).map((each) => dirname(each));
    return folders.map((each) => new Programs(each)).find((each) => each.majorVersion === version);
  }

  get folder(): string {
    return this.#folder;
  }

  /** Such as `17`. */
  get majorVersion(): string {
    this.#majorVersion ??= majorVersionIn(execFileSync(this.path("postgres"), ["-V"], { encoding: "utf8" }));
    return this.#majorVersion;
  }

  path(name: string): string {
    return join(this.#folder, name);
  }

  /** Runs a program to its end; `input` is its standard input. */
  run(
    name: string,
    args: readonly string[],
    {
      env = {},
      input = "",
      signal,
      folder,
    }: {
      readonly env?: NodeJS.ProcessEnv;
      readonly input?: string;
      readonly signal?: AbortSignal;
      /** Where it runs; it may leave files there. */
      readonly folder?: string;
    } = {},
  ): Promise<Finished> {
    return new Promise((resolve) => {
      const options = {
        env: { ...process.env, LC_ALL: "C", ...env },
        maxBuffer: 4 << 20,
        ...(signal === undefined ? {} : { signal }),
        ...(folder === undefined ? {} : { cwd: folder }),
      };
      const child = execFile(this.path(name), [...args], options, (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, output: code === 0 ? stdout : `${stdout}${stderr}` });
      });
      // A program that ended before it read everything closes the pipe.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(input);
    });
  }
}

/** `postgres (PostgreSQL) 17.6 (Debian 17.6-1)`, or `17rc1`. */
function majorVersionIn(text: string): string {
  const found = /PostgreSQL\) (\d+)/.exec(text)?.[1];
  if (found === undefined) throw new Error(`Cannot read the version of postgres: ${JSON.stringify(text)}`);
  return found;
}

/** The last line that says something: what a program complains about. */
export function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}
