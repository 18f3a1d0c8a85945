/**
 * Runs the stories of many seeds twice, in processes of their own and in opposite orders, and compares the
 * hashes of their traces; with `--node`, the second time under another Node.
 *
 *   npm run determinism -- [--seeds 10000] [--from 0] [--jobs 2] [--node 24 | --node /path/to/node]
 *
 * A number is a version: it is fetched as the npm package `node` into a temporary folder.
 */
import { execFile, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";

const { values } = asked("compare", {
  options: {
    seeds: { type: "string", default: "10000" },
    from: { type: "string", default: "0" },
    jobs: { type: "string", default: "2" },
    node: { type: "string" },
  },
});
const total = wholeNumber("compare", "seeds", values.seeds);
const first = wholeNumber("compare", "from", values.from);
const jobs = wholeNumber("compare", "jobs", values.jobs, 1);
/** Seeds that one process runs: enough that its start does not count, few enough that memory stays small. */
const chunk = 250;
const shownMax = 10;
const tell = new URL("tell.ts", import.meta.url).pathname;

async function hashes(node: string, from: number, count: number, direction: 1 | -1): Promise<Map<string, string>> {
  const args = ["--conditions=@setpoint/source", tell, String(from), String(count), String(direction)];
  const child = spawn(node, args, { stdio: ["ignore", "pipe", "inherit"] });
  const found = new Map<string, string>();
  for await (const line of createInterface({ input: child.stdout })) {
    const space = line.indexOf(" ");
    found.set(line.slice(0, space), line.slice(space + 1));
  }
  return found;
}

async function fetchNode(version: string): Promise<{ readonly path: string; readonly folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "determinism-"));
  process.stderr.write(`Fetching node@${version} from npm\n`);
  const run = promisify(execFile);
  await run("npm", ["install", "--no-save", "--prefix", folder, `node@${version}`], { cwd: folder });
  return { path: join(folder, "node_modules", "node", "bin", "node"), folder };
}

async function versionOf(node: string): Promise<string> {
  return (await promisify(execFile)(node, ["--version"])).stdout.trim();
}

const differences: string[] = [];
let compared = 0;
let settled = 0;

async function compare(other: string, from: number, count: number): Promise<void> {
  const once = await hashes(process.execPath, from, count, 1);
  const again = await hashes(other, from, count, -1);
  for (let seed = from; seed < from + count; seed++) {
    const [a, b] = [once.get(String(seed)), again.get(String(seed))];
    compared++;
    if (a?.endsWith(" settled")) settled++;
    if (a === undefined || a !== b) differences.push(`seed ${seed}: ${a ?? "no answer"} | ${b ?? "no answer"}`);
  }
  process.stderr.write(`${compared} of ${total} seeds, ${differences.length} differ\n`);
}

const fetched = values.node !== undefined && /^\d/.test(values.node) ? await fetchNode(values.node) : undefined;
try {
  const other = fetched?.path ?? values.node ?? process.execPath;
  const starts = Array.from({ length: Math.ceil(total / chunk) }, (_, index) => first + index * chunk);
  const work = async (): Promise<void> => {
    for (let from = starts.shift(); from !== undefined; from = starts.shift())
      await compare(other, from, Math.min(chunk, first + total - from));
  };
  await Promise.all(Array.from({ length: jobs }, work));
  process.stdout.write(`Node ${process.version} and ${await versionOf(other)}: ${compared} seeds run twice, `);
  process.stdout.write(`${differences.length} with different traces; ${settled} of the stories settled\n`);
  for (const line of differences.slice(0, shownMax)) process.stdout.write(`${line}\n`);
} finally {
  if (fetched !== undefined) await rm(fetched.folder, { recursive: true, force: true });
}
process.exitCode = differences.length === 0 ? 0 : 1;
