/**
 * One agent at a time uses a directory. The lock is an abstract Unix socket: the kernel frees it when its
 * process ends, which a file with a process id cannot promise (ids are reused, zombies look alive). Its name
 * contains a secret of the directory, so other users of the machine cannot take it.
 *
 * An agent whose parent has ended offers the directory by a file; the next agent asks for it by another file.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { type Clock, sleep } from "@setpoint/host";
import { nodeError } from "../errors.ts";

/** An agent notices within this time that its parent was killed. */
const orphanMsMax = 2_000;
/** Such an agent hands its pods over within this time. */
const handOverMsMax = 20_000;
const pollMs = 50;

export interface DirectoryLock {
  release(): void;
  /** Offers the directory. Resolves when another agent asks for it; rejects when the signal is aborted. */
  offer(signal: AbortSignal): Promise<void>;
}

/** Locks the directory, if necessary by asking the agent that offers it. Throws ERR_DIRECTORY_IN_USE. */
export async function lockDirectory(directory: string, clock: Clock): Promise<DirectoryLock> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const files = { offered: join(directory, "offered"), wanted: join(directory, "wanted") };
  const name = `\0setpoint-node:${lockName(join(directory, "lock-name"))}`;
  const server = (await listen(name)) ?? (await takeOver(name, files, clock));
  if (server === undefined)
    throw nodeError("ERR_DIRECTORY_IN_USE", `Cannot use directory "${directory}": another node agent uses it`);
  server.unref();
  for (const file of Object.values(files)) rmSync(file, { force: true });
  return {
    release: () => void server.close(),
    async offer(signal) {
      writeFileSync(files.offered, "", { mode: 0o600 });
      while (!existsSync(files.wanted)) await sleep(clock, pollMs, signal);
    },
  };
}

async function takeOver(
  name: string,
  files: { readonly offered: string; readonly wanted: string },
  clock: Clock,
): Promise<Server | undefined> {
  const startMs = clock.monotonic();
  for (;;) {
    const isOffered = existsSync(files.offered);
    if (isOffered) writeFileSync(files.wanted, "", { mode: 0o600 });
    const server = await listen(name);
    if (server !== undefined) return server;
    if (clock.monotonic() - startMs > (isOffered ? handOverMsMax : orphanMsMax)) return undefined;
    await sleep(clock, pollMs);
  }
}

function lockName(file: string): string {
  try {
    writeFileSync(file, randomBytes(16).toString("hex"), { flag: "wx", mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8");
}

/** Undefined when the name is taken. */
function listen(name: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve(server));
  });
}
