/** A user of this machine that exists for one test. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

const checkout = new URL("../..", import.meta.url).pathname;

/** Why no such user can be made; empty when one can. */
export function missingForAccounts(): string {
  if (process.getuid?.() !== 0) return "not root: cannot make a user";
  const missing = ["useradd", "userdel", "newuidmap"].filter((tool) => spawnSync("which", [tool]).status !== 0);
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  const nobody = { uid: 65_534, gid: 65_534, cwd: "/" };
  const isReadable = spawnSync("test", ["-r", join(checkout, "package.json")], nobody).status === 0;
  const isRunnable = spawnSync("test", ["-x", process.execPath], nobody).status === 0;
  return isReadable && isRunnable ? "" : "another user can read neither this checkout nor its node";
}

export class Account implements Disposable {
  readonly name = `setpoint-${process.pid}`;
  readonly home: string = `/home/${this.name}`;
  readonly #uid: number;
  readonly #gid: number;

  constructor() {
    execFileSync("useradd", ["--create-home", "--home-dir", this.home, this.name]);
    this.#uid = Number(execFileSync("id", ["-u", this.name]));
    this.#gid = Number(execFileSync("id", ["-g", this.name]));
  }

  /** Runs a program of the checkout. */
  node(program: string, ...args: readonly string[]): ChildProcess {
    return spawn(process.execPath, ["--conditions=@setpoint/source", program, ...args], {
      uid: this.#uid,
      gid: this.#gid,
      cwd: this.home,
      env: { HOME: this.home, PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  /** Its processes that have not ended. */
  processes(): readonly number[] {
    const pids = readdirSync("/proc").filter((entry) => /^\d+$/.test(entry));
    return pids.map(Number).filter((pid) => this.#owns(pid));
  }

  #owns(pid: number): boolean {
    try {
      return statSync(`/proc/${pid}`).uid === this.#uid && !isZombie(pid);
    } catch {
      return false;
    }
  }

  [Symbol.dispose](): void {
    for (const pid of this.processes()) process.kill(pid, "SIGKILL");
    execFileSync("userdel", ["--force", "--remove", this.name], { stdio: "ignore" });
  }
}

function isZombie(pid: number): boolean {
  return /^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
}
