/**
 * Measures what an engine costs: a program that is run, and what is paid instead when its answer is known.
 * Run: node --conditions=@setpoint/source bench/engines.ts [helm]
 */
import { systemHost } from "@setpoint/host/system";
import { systemPrograms } from "setpoint/hook";

const folder = new URL("../examples/chart/", import.meta.url).pathname;
const [helm] = process.argv.slice(2);
const programs = systemPrograms({ clock: systemHost({ write: () => {} }).clock, folder });
const { signal } = new AbortController();

async function measure(what: string, rounds: number, work: () => Promise<unknown>): Promise<void> {
  await work();
  const startedMs = performance.now();
  for (let i = 0; i < rounds; i++) await work();
  console.log(`${what}: ${((performance.now() - startedMs) / rounds).toFixed(2)} ms`);
}

const run = (...command: readonly string[]): Promise<unknown> =>
  programs.run({ command, input: "{}", environment: {}, timeoutMs: 10_000, outputBytesMax: 1_000_000 }, signal);

await measure("the files of a small chart, looked at", 500, () => programs.fingerprint(["./chart"]));
await measure("a program that only copies its input", 100, () => run("cat"));
if (helm !== undefined) await measure("helm template", 10, () => run(helm, "template", "x", "./chart", "-f", "-"));
