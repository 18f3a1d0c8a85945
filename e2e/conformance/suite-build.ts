/**
 * Upstream's conformance suite and the program of its test images, built by Go from upstream's own modules
 * into the cache of this project.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import { findReference } from "../cluster/reference.ts";

/** The release whose suite judges; its minor version is the one that our API server names. */
export const suiteVersion = "1.36.3";

/** The programs: `e2e.test` is the suite, `agnhost` is what most of its pods run. */
export interface Suite {
  readonly suite: string;
  readonly agnhost: string;
  /** The extension server of upstream's examples. */
  readonly sampleServer: string;
}

const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "setpoint", "tools");
const folder = join(cache, `conformance-${suiteVersion}`);
/** On two cores that other work shares; the suite alone takes two and a half minutes. */
const stepMsMax = 1_800_000;

/**
 * The programs of the suite where they are built, here or beside a genuine cluster; the reason when they are
 * not.
 */
export function findSuite(): Suite | string {
  const reference = findReference();
  const folders = [folder, ...(typeof reference === "string" ? [] : [reference.bin])];
  const found = folders.map(suiteIn).find((each) => missingOf(each).length === 0);
  return found ?? `the conformance suite is not built in ${folders.map((each) => `"${each}"`).join(" or ")}`;
}

/**
 * The programs of the suite; the reason when they cannot be had. Builds them when they are nowhere.
 */
export function ensureSuite(): Suite | string {
  const found = findSuite();
  if (typeof found !== "string") return found;
  const suite = suiteIn(folder);
  if (spawnSync("go", ["version"]).status !== 0)
    return "Go, which builds the conformance suite, is not installed (Debian: golang-go)";
  console.log(`Building the conformance suite ${suiteVersion} with Go; this takes some minutes …`);
  mkdirSync(folder, { recursive: true });
  const work = mkdtempSync(join(cache, "conformance."));
  try {
    writeFileSync(join(work, "go.mod"), moduleFile());
    for (const program of missingOf(suite)) build(work, program);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return suite;
}

function suiteIn(where: string): Suite {
  const suite = join(where, "e2e.test");
  return { suite, agnhost: join(where, "agnhost"), sampleServer: join(where, "sample-apiserver") };
}

function missingOf(suite: Suite): readonly string[] {
  return Object.values(suite).filter((program: string) => !existsSync(program));
}

/** By the name of the program. */
const sources: Readonly<Record<string, string>> = {
  agnhost: "k8s.io/kubernetes/test/images/agnhost",
  "sample-apiserver": "k8s.io/sample-apiserver",
};

function build(work: string, program: string): void {
  const name = basename(program);
  const source = sources[name];
  if (source === undefined)
    go(work, "test", "-c", "-vet=off", "-ldflags", versionFlags(), "-o", name, "k8s.io/kubernetes/test/e2e");
  else go(work, "build", "-ldflags", "-s -w", "-o", name, source);
  renameSync(join(work, name), program);
}

/**
 * Upstream's own requirements, so that no module is newer than in its release. Its replacements are folders
 * of its repository, which are modules of their own elsewhere.
 */
function moduleFile(): string {
  const module = `k8s.io/kubernetes@v${suiteVersion}`;
  const { GoMod } = JSON.parse(go(cache, "mod", "download", "-json", module)) as { GoMod: string };
  const staging = suiteVersion.replace(/^1\./, "0.");
  const text = readFileSync(GoMod, "utf8")
    .replace(/^module .*/m, "module setpoint.example/conformance")
    .replaceAll(/(k8s\.io\/[a-z-]+) => \.\/staging\/src\/k8s\.io\/[a-z-]+/g, `$1 => $1 v${staging}`);
  return `${text}\nrequire k8s.io/kubernetes v${suiteVersion}\n`;
}

/** The suite skips specs by the version that it believes itself to be. */
function versionFlags(): string {
  const [major = "", minor = ""] = suiteVersion.split(".");
  const facts = { gitVersion: `v${suiteVersion}`, gitMajor: major, gitMinor: minor, gitTreeState: "clean" };
  const packages = ["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"];
  const flags = packages.flatMap((name) => Object.entries(facts).map(([key, value]) => `-X ${name}.${key}=${value}`));
  return ["-s", "-w", ...flags].join(" ");
}

function go(cwd: string, ...args: readonly string[]): string {
  const env = { ...process.env, CGO_ENABLED: "0", GOFLAGS: "-mod=mod -buildvcs=false" };
  const { status, stdout, stderr } = spawnSync("go", args, { cwd, env, encoding: "utf8", timeout: stepMsMax });
  if (status !== 0) throw new Error(`Cannot run "go ${args.slice(0, 2).join(" ")}": ${stderr.slice(-1_000)}`);
  return stdout;
}
