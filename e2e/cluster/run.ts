/**
 * `npm run e2e:cluster [-- etcd|postgres|prometheus|compliance-probe]`: an operator on a genuine Kubernetes,
 * with its manifests. For etcd and Prometheus these are the example and the tour of `npm start -- --exit`.
 * Where no such cluster can be had it says why and ends well. It leaves nothing behind.
 */
import { loadavg } from "node:os";
import { asked } from "../../tools/flags/asked.ts";
import { isToured, touredOperators, writeImageArchives } from "./image-archives.ts";
import { runRealSession } from "./real-session.ts";
import { findReference, type Reference } from "./reference.ts";
import { timed } from "./timed.ts";

const script = new URL("session.ts", import.meta.url).pathname;
const {
  positionals: [operator = "etcd"],
} = asked("tour a genuine cluster", { allowPositionals: true, options: {} });
if (!isToured(operator)) throw new Error(`Cannot tour "${operator}": use ${touredOperators.join(", ")}`);
const toured = operator;
const stopping = new AbortController();
const { signal } = stopping;
const load = (): string => `load ${loadavg()[0]?.toFixed(1)}`;

function run(reference: Reference): Promise<boolean> {
  const prepare = (directory: string): Promise<void> =>
    timed("the images are made", () => writeImageArchives(toured, directory, signal));
  return runRealSession(reference, { script, args: [toured], signal, prepare });
}

// For good, not once: a second ^C must not keep the cluster from being taken down.
for (const name of ["SIGINT", "SIGTERM"]) {
  process.on(name, () => {
    console.log(`Stopping, because of ${name} …`);
    stopping.abort(new Error(`Stopped by ${name}`));
  });
}
const reference = findReference();
if (typeof reference === "string") {
  console.log(`skipped: ${reference}`);
} else {
  console.log(`A real Kubernetes for the operator ${toured} (${load()}):`);
  const holds = await run(reference).catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    return false;
  });
  console.log(holds ? `All steps hold (${load()}).` : stopping.signal.aborted ? "Stopped." : "The tour failed.");
  process.exitCode = holds ? 0 : 1;
}
