/** Kopf's source distribution with its examples, and its wheels for Debian's Python, from PyPI by pip. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { toolsFolder } from "./tools-folder.ts";

const version = "1.45.2";
/** Of Debian bookworm, which the image has. */
const python = "3.11";
const platforms = ["manylinux2014_x86_64", "manylinux_2_28_x86_64"];
const stepMsMax = 300_000;

/** Empty when pip is here; otherwise why Kopf cannot be had. */
export const missingPip: string =
  spawnSync("python3", ["-m", "pip", "--version"]).status === 0
    ? ""
    : "pip, which downloads it, is not installed (Debian: python3-pip)";

export interface Kopf {
  /** Its modules and those that the examples import. */
  readonly modules: string;
  /** The examples, and the manifests of its documentation. */
  readonly source: string;
}

export function downloadKopf(): Kopf {
  const folder = join(toolsFolder(), `kopf-${version}`);
  if (!existsSync(folder)) download(folder);
  return { modules: join(folder, "modules"), source: join(folder, `kopf-${version}`) };
}

/** The folder appears when it is complete. */
function download(folder: string): void {
  const work = mkdtempSync(join(toolsFolder(), "download."));
  try {
    mkdirSync(join(work, "all"));
    const target = platforms.flatMap((name) => ["--platform", name]);
    const wheels = ["--only-binary=:all:", "--python-version", python, "--implementation", "cp", ...target];
    const packages = [`kopf==${version}`, "pykube-ng"];
    run("python3", "-m", "pip", "install", "-q", "--target", join(work, "all", "modules"), ...wheels, ...packages);
    run("python3", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "kopf", "-d", work, `kopf==${version}`);
    run("tar", "-xzf", join(work, `kopf-${version}.tar.gz`), "-C", join(work, "all"));
    renameSync(join(work, "all"), folder);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function run(program: string, ...args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { encoding: "utf8", timeout: stepMsMax });
  if (status !== 0) throw new Error(`Cannot run "${program} ${args.slice(0, 3).join(" ")}": ${stderr.slice(-1_000)}`);
}
