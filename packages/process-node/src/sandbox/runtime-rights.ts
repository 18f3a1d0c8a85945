/**
 * Where the tools that make containers have the rights to do so. Root has them everywhere. An ordinary user
 * has them in a user namespace of its own, in which it is user 0: one for each node, held by a process that
 * sleeps and outlives the agent. The namespaces of pods are children of it, so what runs in it may join them.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { messageOf } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import { readJson, writeJson } from "../host/json-file.ts";
import { identify, isAlive, type ProcessIdentity, signalProcess } from "../host/process-identity.ts";
import { toolEnvironment } from "../host/run-tool.ts";
import { untilReady } from "./until-ready.ts";

export interface RuntimeRights {
  /** Makes sure that `enter` works. Throws ERR_CONTAINER_START with what the host refuses. */
  obtain(): Promise<void>;
  /** False when they ended, and with them the way to the pods that were made in them. */
  areHeld(): boolean;
  /** The command that runs `command` with these rights. */
  enter(command: readonly string[]): readonly string[];
  /** Ends the holder; for a node without pods. */
  release(): void;
}

export const rootRights: RuntimeRights = {
  async obtain() {},
  areHeld: () => true,
  enter: (command) => command,
  release() {},
};

/**
 * A mount tells whether the kernel gives rights in the namespace: some hosts allow to make one and nothing in
 * it.
 */
const holderScript = `mount -t tmpfs none /sys && echo ready && exec sleep infinity >&- 2>&-`;
const namespaces = ["--user", "--map-root-user", "--mount", "--cgroup"];
const settings =
  "sysctl kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0 user.max_user_namespaces=10000";

export class OwnUserNamespace implements RuntimeRights {
  readonly #file: string;
  #holder: ProcessIdentity | undefined;
  #making: Promise<void> | undefined;

  /** Finds the holder again that an agent before this one started for the same folder. */
  constructor(directory: string) {
    this.#file = join(directory, ".user-namespace.json");
    this.#holder = readJson(this.#file) as ProcessIdentity | undefined;
  }

  obtain(): Promise<void> {
    if (this.areHeld()) return Promise.resolve();
    this.#making ??= this.#make().finally(() => (this.#making = undefined));
    return this.#making;
  }

  areHeld(): boolean {
    return this.#holder !== undefined && isAlive(this.#holder);
  }

  /** The cgroup namespace is of use where the user may make no control groups: crun wants to see some. */
  enter(command: readonly string[]): readonly string[] {
    const target = ["--target", String(this.#holder?.pid ?? 0)];
    return ["/usr/bin/nsenter", ...target, "--user", "--cgroup", "--preserve-credentials", "--", ...command];
  }

  release(): void {
    if (this.#holder !== undefined) signalProcess(this.#holder, "SIGKILL");
  }

  async #make(): Promise<void> {
    const child = spawn("/usr/bin/unshare", [...namespaces, "/bin/sh", "-c", holderScript], {
      cwd: "/",
      env: toolEnvironment,
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    child.unref();
    try {
      await untilReady(child);
      this.#holder = identify(child.pid ?? 0);
      if (this.#holder === undefined) throw new Error("its holder ended");
      writeJson(this.#file, this.#holder);
    } catch (error) {
      child.kill("SIGKILL");
      throw refused(error);
    }
  }
}

function refused(error: unknown): Error {
  const what = messageOf(error).replace(/\s+/g, " ");
  const message = `this host gives an ordinary user no user namespaces (${what}); run "${settings}" as root, or run "setpoint up" as root`;
  return nodeError("ERR_CONTAINER_START", `Cannot run pods: ${message}`, error);
}
