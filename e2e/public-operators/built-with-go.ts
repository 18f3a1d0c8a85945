/** Public operators that Go builds from their upstream modules, into the cache of this project. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolsFolder } from "./tools-folder.ts";

export interface GoOperator {
  readonly name: string;
  readonly module: string;
  readonly version: string;
  /** Name of the program → its package below the module. */
  readonly programs: Readonly<Record<string, string>>;
}

export interface BuiltOperator {
  /** Where the programs are. */
  readonly folder: string;
  /** The upstream module, with the manifests that it publishes. */
  readonly source: string;
}

/** The largest takes four minutes on two cores. */
const stepMsMax = 1_200_000;

/** Empty when Go is here; otherwise why its operators cannot be built. */
export const missingGo: string =
  spawnSync("go", ["version"]).status === 0 ? "" : "Go, which builds it, is not installed (Debian: golang-go)";

/** Builds the programs that the cache does not have. Throws with the end of what Go says. */
export function buildOperator({ name, module, version, programs }: GoOperator): BuiltOperator {
  const folder = join(toolsFolder(), `${name}-${version}`);
  if (!existsSync(folder)) build(folder, `${module}@${version}`, programs);
  return { folder, source: moduleSource(`${module}@${version}`) };
}

/** The folder with the files of a module, such as `example.com/a@v1.0.0`. */
export function moduleSource(module: string): string {
  const { Dir } = JSON.parse(go(toolsFolder(), "mod", "download", "-json", module)) as { Dir: string };
  return Dir;
}

/** The folder appears when it is complete. */
function build(folder: string, module: string, programs: GoOperator["programs"]): void {
  console.log(`Building ${module} with Go; this takes some minutes …`);
  const work = mkdtempSync(join(toolsFolder(), "build."));
  try {
    const [path = "", version = ""] = module.split("@");
    writeFileSync(join(work, "go.mod"), `module setpoint.example/operator\ngo 1.24\nrequire ${path} ${version}\n`);
    mkdirSync(join(work, "bin"));
    for (const [program, name] of Object.entries(programs))
      go(work, "build", "-ldflags", "-s -w", "-o", join("bin", program), `${path}/${name}`);
    renameSync(join(work, "bin"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function go(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod -buildvcs=false" };
  const { status, stdout, stderr } = spawnSync("nice", ["go", ...args], {
    cwd,
    env,
    encoding: "utf8",
    timeout: stepMsMax,
  });
  if (status !== 0) throw new Error(`Cannot run "go ${args.slice(0, 2).join(" ")}": ${stderr.slice(-1_000)}`);
  return stdout;
}
