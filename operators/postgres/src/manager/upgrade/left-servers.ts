/** Servers that a pg_upgrade that was killed has left on the data. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { managerClock } from "../manager-clock.ts";
import { paths } from "../paths.ts";

const lookAgainMs = 50;
const endMsMax = 10_000;

/** Ends them without a checkpoint; the next start recovers. */
export async function endServers(signal: AbortSignal): Promise<void> {
  for (const folder of [paths.data, paths.newData]) {
    const pid = serverOf(folder);
    if (pid === undefined) continue;
    process.kill(pid, "SIGQUIT");
    for (let waitedMs = 0; serverOf(folder) === pid; waitedMs += lookAgainMs) {
      if (waitedMs > endMsMax) throw new Error(`A server that pg_upgrade started on ${folder} does not end`);
      await managerClock.sleep(lookAgainMs, signal);
    }
  }
}

/** Its number may be that of another process meanwhile, so what it was started with counts. */
function serverOf(folder: string): number | undefined {
  const pid = Number.parseInt(textOf(join(folder, "postmaster.pid")), 10);
  if (!Number.isInteger(pid)) return undefined;
  const args = textOf(`/proc/${pid}/cmdline`).split("\0");
  return args[args.indexOf("-D") + 1] === folder ? pid : undefined;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
