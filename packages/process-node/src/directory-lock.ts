/**
 * One agent at a time for one directory. The lock is an abstract Unix socket named after it: the kernel frees it with its
 * process, however that ends, which a file with a process id cannot promise (ids are reused, zombies look alive).
 */
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { createServer } from "node:net";
import { nodeError } from "./errors.ts";

/** Takes the directory; returns what gives it back. */
export async function lockDirectory(directory: string): Promise<() => void> {
  mkdirSync(directory, { recursive: true });
  const server = createServer((socket) => socket.destroy());
  // A hash, because such a name has at most 107 bytes, and two long paths may begin alike.
  const name = `\0setpoint-node:${createHash("sha256").update(realpathSync(directory)).digest("hex")}`;
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error) => {
      reject(
        nodeError("ERR_DIRECTORY_IN_USE", `Cannot use directory "${directory}": another node agent uses it`, error),
      );
    });
    server.listen(name, resolve);
  });
  server.unref();
  return () => void server.close();
}
