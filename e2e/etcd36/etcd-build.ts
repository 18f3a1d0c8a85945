/**
 * etcd of any release, for those that no Debian suite has: static programs that Go's own client builds once,
 * through the Go module proxy, into the cache of this project.
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "setpoint", "tools");
/** On two cores that other work shares; a build alone takes a minute. */
const stepMsMax = 900_000;
/** Each program by the module whose root package it is. */
const modules = { etcd: "server", etcdctl: "etcdctl", etcdutl: "etcdutl" } as const;

/** Why no release can be built here; empty when one can. */
export function missingForBuilds(): string {
  return spawnSync("go", ["version"]).status === 0 ? "" : "Go, which builds etcd, is not installed";
}

/**
 * The root folder of an image: the programs of this release, without the leading `v`, in /usr/local/bin as in
 * upstream's images.
 */
export function etcdRoot(version: string): string {
  const root = join(cache, `etcd-${version}`);
  if (existsSync(root)) return root;
  console.log(`Building etcd ${version} with Go …`);
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, `etcd-${version}.`));
  try {
    build(version, folder);
    renameSync(join(folder, "root"), root);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return root;
}

/** `go install` refuses these modules, because their go.mod replaces others; as requirements they build. */
function build(version: string, folder: string): void {
  const packages = Object.values(modules).map((module) => `go.etcd.io/etcd/${module}/v3`);
  go(folder, "mod", "init", "setpoint.example/etcd");
  go(folder, "get", ...packages.map((each) => `${each}@v${version}`));
  for (const [program, module] of Object.entries(modules)) {
    const out = join("root", "usr", "local", "bin", program);
    go(folder, "build", "-trimpath", "-ldflags", "-s -w", "-o", out, `go.etcd.io/etcd/${module}/v3`);
  }
}

function go(folder: string, ...args: readonly string[]): void {
  const env = { ...process.env, CGO_ENABLED: "0" };
  const { status, stderr } = spawnSync("go", args, { cwd: folder, env, encoding: "utf8", timeout: stepMsMax });
  if (status !== 0) throw new Error(`Cannot run "go ${args.join(" ")}": ${stderr.slice(-500)}`);
}
