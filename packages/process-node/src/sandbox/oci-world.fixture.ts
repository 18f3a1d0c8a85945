/**
 * A runtime on this host with a root file system made of the host's own tools: no download is needed to test
 * the sandbox.
 */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@setpoint/host/system";
import { onTestFinished } from "vitest";
import type { ContainerSpec, PodSandboxSpec } from "./container-runtime.ts";
import { OciRuntime } from "./oci-runtime.ts";

const tools = [
  "sh",
  "sleep",
  "cat",
  "id",
  "ls",
  "hostname",
  "mkdir",
  "cp",
  "rm",
  "dd",
  "head",
  "tail",
  "true",
  "stty",
  "wc",
  "test",
];

/** Why containers cannot run here; empty when they can. */
export const missingTools: string = ["crun", "conmon", "unshare"]
  .filter((tool) => !isInstalled(tool))
  .map((tool) => `${tool} is not installed`)
  .join(", ");

function isInstalled(tool: string): boolean {
  try {
    execFileSync(tool, ["--version"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export class OciWorld {
  readonly directory: string;
  readonly root: string;
  readonly runtime: OciRuntime;

  constructor() {
    this.directory = mkdtempSync(join(tmpdir(), "process-node-"));
    this.root = join(this.directory, "root");
    copyTools(this.root);
    this.runtime = this.agent();
    onTestFinished(async () => {
      for (const uid of this.runtime.sandboxUids()) await this.runtime.removeSandbox(uid);
      rmSync(this.directory, { recursive: true, force: true });
    });
  }

  /** A further agent on the same folder, as after a restart. */
  agent(): OciRuntime {
    const runtime = new OciRuntime({
      clock: systemClock,
      directory: join(this.directory, "sandboxes"),
      idsFile: join(this.directory, "ids.json"),
      version: "test",
      logFile: (...run) => this.#logFile(...run),
    });
    onTestFinished(() => runtime[Symbol.dispose]());
    return runtime;
  }

  async sandbox(podUid = "uid", more: Partial<PodSandboxSpec> = {}): Promise<string> {
    const own = { hostname: "web-0", networkNamespace: more.networkOf !== undefined, user: 0, group: 0 };
    await this.runtime.createSandbox({ podUid, ...own, ...more });
    return podUid;
  }

  spec(command: readonly string[], extra: Partial<ContainerSpec> = {}): ContainerSpec {
    return {
      id: "uid/main/0",
      image: "tools:1",
      rootDirectory: this.root,
      command,
      env: { PATH: "/usr/bin" },
      hostname: "web-0",
      mounts: [],
      files: {},
      ...extra,
    };
  }

  /** What a run wrote, without the heads of the lines. */
  output(container = "main", attempt = 0): string {
    const lines = readFileSync(this.#logFile("uid", container, attempt), "utf8").split("\n");
    return lines.map((line) => line.split(" ").slice(3).join(" ")).join("\n");
  }

  #logFile(podUid: string, container: string, attempt: number): string {
    return join(this.directory, "pods", podUid, "logs", container, `${attempt}.log`);
  }
}

function copyTools(root: string): void {
  for (const folder of ["usr/bin", "usr/lib", "etc"]) mkdirSync(join(root, folder), { recursive: true });
  for (const name of tools) execFileSync("cp", ["-L", `/usr/bin/${name}`, `${root}/usr/bin/`], { stdio: "ignore" });
  const programs = tools.map((name) => `/usr/bin/${name}`).join(" ");
  const libraries = `ldd ${programs} | grep -o '/[^ ]*' | grep -v : | sort -u`;
  execFileSync("sh", ["-c", `for f in $(${libraries}); do mkdir -p ${root}$(dirname $f); cp -L $f ${root}$f; done`]);
}
