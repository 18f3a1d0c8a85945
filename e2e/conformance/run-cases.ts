/** Runs cases of the suite against a cluster: several processes of the suite at once, a few cases each. */
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type CaseResult, readReport, runsAlone } from "./case.ts";

export interface RunOptions {
  readonly suite: string;
  readonly kubeconfig: string;
  /** Processes of the suite at once. */
  readonly parallel: number;
  readonly signal: AbortSignal;
  /** Called for each case as it ends. */
  readonly ended: (result: CaseResult) => void;
}

/** A process of the suite takes two seconds of CPU to start. */
const casesPerProcess = 4;
/** The longest cases of the suite take six minutes on a quiet machine, and a process may have two of them. */
const processMinutesMax = 15;

/** The names of all cases that `focus` (a regular expression) selects. */
export async function listCases(suite: string, focus: string, signal: AbortSignal): Promise<readonly string[]> {
  const { report } = await runSuite(suite, ["--ginkgo.dry-run", `--ginkgo.focus=${focus}`], signal);
  return readReport(report).map(({ name }) => name);
}

/** Runs each case once; those that change the whole cluster one by one at the end. */
export async function runCases(names: readonly string[], options: RunOptions): Promise<readonly CaseResult[]> {
  const together = chunks(names.filter((name) => !runsAlone(name)));
  const alone = chunks(names.filter(runsAlone));
  return [...(await runChunks(together, options.parallel, options)), ...(await runChunks(alone, 1, options))];
}

async function runChunks(
  waiting: (readonly string[])[],
  parallel: number,
  options: RunOptions,
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  const work = async (): Promise<void> => {
    for (let names = waiting.shift(); names !== undefined && !options.signal.aborted; names = waiting.shift()) {
      const { ran, left } = await runChunk(names, options);
      results.push(...ran);
      waiting.push(...left.map((name) => [name]));
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return results;
}

/**
 * Cases that had no turn, because one before them took all the time of their process, are left for processes
 * of their own. A case alone that does not even start is not run.
 */
async function runChunk(
  names: readonly string[],
  options: RunOptions,
): Promise<{ readonly ran: readonly CaseResult[]; readonly left: readonly string[] }> {
  // The suite puts its own name before the name of a case.
  const focus = `(${names.map((name) => name.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&")).join("|")})$`;
  const cluster = [`--kubeconfig=${options.kubeconfig}`, "--provider=skeleton", "--allowed-not-ready-nodes=-1"];
  const selection = [`--ginkgo.timeout=${processMinutesMax}m`, `--ginkgo.focus=${focus}`];
  const { report, output } = await runSuite(options.suite, [...cluster, ...selection], options.signal);
  const ran = [...readReport(report)];
  const left = names.filter((name) => !ran.some((result) => result.name === name));
  if (names.length === 1 && left.length === 1)
    ran.push({ name: names[0] ?? "", outcome: "not run", reason: lastLine(output), seconds: 0 });
  for (const result of ran) options.ended(result);
  return { ran, left: names.length === 1 ? [] : left };
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1)?.slice(0, 240) ?? "";
}

async function runSuite(
  suite: string,
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly report: string; readonly output: string }> {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-conformance-"));
  const file = join(folder, "report.xml");
  try {
    const output = await outputOf(
      suite,
      [...args, `--ginkgo.junit-report=${file}`, "--ginkgo.no-color"],
      folder,
      signal,
    );
    return { report: readIfThere(file), output };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Only the end of what it prints is kept: a failed case prints megabytes. */
function outputOf(program: string, args: readonly string[], cwd: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const keep = (chunk: Buffer): void => void (output = (output + chunk.toString()).slice(-20_000));
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    const stop = (): void => void child.kill("SIGINT");
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", reject);
    child.once("close", () => {
      signal.removeEventListener("abort", stop);
      resolve(output);
    });
  });
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return ""; // The suite ended before it wrote one.
  }
}

function chunks(names: readonly string[]): (readonly string[])[] {
  const count = Math.ceil(names.length / casesPerProcess);
  return Array.from({ length: count }, (_, i) => names.slice(i * casesPerProcess, (i + 1) * casesPerProcess));
}
