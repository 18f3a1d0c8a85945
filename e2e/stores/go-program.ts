/** Servers for tests, which Go's own client builds once into the cache of this project. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

export interface GoProgram {
  /** What it is, for messages: "S3 server". */
  readonly what: string;
  readonly module: string;
  readonly version: string;
  /** How long a build may take on two cores that other work shares. */
  readonly buildMsMax: number;
}

/** The path of the program; the reason when there is none. */
export function installGoProgram(program: GoProgram): { readonly program: string } | { readonly missing: string } {
  const { what, module, version, buildMsMax } = program;
  const name = module.slice(module.lastIndexOf("/") + 1);
  const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
  const folder = join(cache, "setpoint", "tools", `${name}-${version}`);
  const path = join(folder, name);
  if (existsSync(path)) return { program: path };
  const args = ["install", `${module}@${version}`];
  const command = ["go", ...args].join(" ");
  if (spawnSync("go", ["version"]).status !== 0)
    return { missing: `no ${what}: Go, which builds it ("${command}"), is not installed` };
  console.log(`Building the ${what}: ${command} …`);
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: "0" };
  const built = spawnSync("go", args, { env, encoding: "utf8", timeout: buildMsMax });
  if (built.status === 0) return { program: path };
  return { missing: `no ${what}: "${command}" ended with ${built.status}: ${built.stderr.slice(-300)}` };
}
