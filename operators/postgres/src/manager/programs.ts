/** PostgreSQL's own programs: where an image has them, and how they are run. */
import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { join } from "node:path";

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
    }: { readonly env?: NodeJS.ProcessEnv; readonly input?: string; readonly signal?: AbortSignal } = {},
  ): Promise<Finished> {
    return new Promise((resolve) => {
      const options = {
        env: { ...process.env, LC_ALL: "C", ...env },
        maxBuffer: 4 << 20,
        ...(signal === undefined ? {} : { signal }),
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

/** The last line that says something: what a program complains about. */
export function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 300) ?? "";
}
