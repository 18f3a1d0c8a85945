/**
 * One builder at a time for one image, over all processes that share the cache. The lock is an abstract Unix
 * socket named after a path, as in `directory-lock.ts`: the kernel frees it with its process. A file would be
 * unsafe: two builders that find an abandoned one could each remove the other's.
 */
import { createHash } from "node:crypto";
import { createServer, type Server } from "node:net";
import { type Clock, sleep } from "@setpoint/host";

const pollMs = 200;

/** Runs `task` while holding the lock that `path` names; waits until it is free. */
export async function withBuildLock<T>(
  clock: Clock,
  path: string,
  task: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  let lock = await tryLock(path);
  for (; lock === undefined; lock = await tryLock(path)) await sleep(clock, pollMs, signal);
  try {
    return await task();
  } finally {
    lock.close();
  }
}

function tryLock(path: string): Promise<Server | undefined> {
  const name = `\0setpoint-build:${createHash("sha256").update(path).digest("hex")}`;
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(undefined) : reject(error),
    );
    server.listen(name, () => resolve(server.unref()));
  });
}
