/**
 * What all stories share, made when the first one needs it: a fresh clone, a tarball, a project, a cluster.
 */
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { findBinary } from "../kubectl/binaries.ts";
import { Shell } from "./shell.ts";
import type { Place } from "./story.ts";

const root = new URL("../..", import.meta.url).pathname;
const npmFlags = "--prefer-offline --no-audit --no-fund --loglevel=error";
const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

export class Stage implements AsyncDisposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "setpoint-doors-"));
  readonly #parts = new AsyncDisposableStack();
  readonly #made = new Map<string, Promise<string>>();
  #shells = 0;

  constructor() {
    this.#parts.defer(() => rmSync(this.folder, { recursive: true, force: true }));
    mkdirSync(join(this.folder, "bin"));
    for (const name of ["kubectl", "helm"] as const) symlinkSync(findBinary(name), join(this.folder, "bin", name));
  }

  /** A shell in a folder of its own for files, at the place of a story. */
  async shell(place: Place): Promise<Shell> {
    const start = await this.#startOf(place);
    const env = await this.#environment(place);
    return this.#shellIn(start, { ...env, TARBALL: this.#made.has("tarball") ? await this.tarball() : "" });
  }

  /** The files that git would clone, and the packages of the lock file. */
  clone(): Promise<string> {
    return this.#once("clone", async (folder) => {
      const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root }).toString();
      for (const path of listed.split("\0").filter((each) => each !== "" && existsSync(join(root, each))))
        cpSync(join(root, path), join(folder, path), { verbatimSymlinks: true });
      // As the first npm script of a reader does it.
      await this.#prepare(folder, "node tools/bootstrap/run.mjs true");
    });
  }

  /** The path of the tarball that `npm run pack` prints. */
  async tarball(): Promise<string> {
    const folder = await this.#once("tarball", async (made) => {
      await this.#prepare(await this.clone(), `npm run --silent pack -- ${made}`);
    });
    const [name = ""] = readdirSync(folder);
    return join(folder, name);
  }

  /** The tarball in an empty folder, with a copy of its examples. */
  project(): Promise<string> {
    return this.#once("project", async (folder) => {
      await this.#prepare(folder, `npm install ${npmFlags} ${await this.tarball()}`);
      await this.#prepare(folder, "cp -r node_modules/setpoint/examples node_modules/setpoint/operators .");
    });
  }

  /** The kubeconfig of a cluster in the project's folder. */
  async cluster(): Promise<string> {
    const project = await this.project();
    await this.#once("cluster", async (folder) => {
      const shell = this.#shellIn(project, await this.#environment("empty"));
      this.#parts.use(shell);
      const { code, text } = await shell.runUntil(
        `node_modules/.bin/setpoint up --data-dir ${folder}`,
        /^Ready: /m,
        60,
      );
      if (code !== 0) throw new Error(`setpoint up: ${text}`);
    });
    return join(this.folder, "cluster", "kubeconfig");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  async #startOf(place: Place): Promise<string> {
    if (place === "clone") return this.clone();
    if (place === "project") return this.project();
    await this.tarball();
    const folder = join(this.folder, `empty-${this.#shells}`);
    mkdirSync(folder);
    return folder;
  }

  /** In a clone the machine's own Node runs, as for a reader; elsewhere the one that the package needs. */
  async #environment(place: Place): Promise<NodeJS.ProcessEnv> {
    const ofMachine = (process.env["PATH"] ?? "").split(delimiter).filter((each) => !each.includes("node_modules"));
    const hasNode = ofMachine.some((each) => existsSync(join(each, "node")));
    const node = place === "clone" && hasNode ? [] : [dirname(process.execPath)];
    const setpoint = place === "project" ? [join(await this.project(), "node_modules/.bin")] : [];
    return {
      ...process.env,
      ...{ PATH: [...setpoint, ...node, join(this.folder, "bin"), ...ofMachine].join(delimiter) },
      ...{ NODE_OPTIONS: "", NO_COLOR: "1", VITEST: "", KUBECACHEDIR: join(this.folder, "kube-cache") },
      KUBECONFIG: place === "project" ? await this.cluster() : undefined,
    };
  }

  #shellIn(start: string, env: NodeJS.ProcessEnv): Shell {
    const own = join(this.folder, `shell-${this.#shells++}`);
    mkdirSync(own);
    return new Shell(own, start, env);
  }

  async #prepare(folder: string, command: string): Promise<void> {
    await using shell = this.#shellIn(folder, await this.#environment("empty"));
    const { code, text } = await shell.run(command, 300);
    if (code === 0) return;
    const [reason] = offline.exec(text) ?? [];
    throw reason === undefined ? new Error(`${command}: ${text}`) : new NoRegistry(`npm has no registry (${reason})`);
  }

  /** Makes a folder once, at the first request. */
  #once(name: string, make: (folder: string) => Promise<void>): Promise<string> {
    const folder = join(this.folder, name);
    const making =
      this.#made.get(name) ??
      Promise.resolve().then(async () => {
        mkdirSync(folder);
        await make(folder);
        return folder;
      });
    this.#made.set(name, making);
    return making;
  }
}

/** Stories that install packages are skipped then. */
export class NoRegistry extends Error {}
