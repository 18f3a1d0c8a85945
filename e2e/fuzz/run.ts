/**
 * `npm run fuzz -- [--requests 1000000] [--seed 1] [--heap MB]`: random requests over paths, headers, bodies,
 * patches and streams against `setpoint up`, with a second client that measures how long it waits. It fails
 * on an answer of 500 or above, an end of the server, a second client that waits more than ten times as long
 * as in quiet, and memory that is not given back.
 */
import { loadavg } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";
import { Target } from "../attack/target.ts";
import type { AttackerInput, AttackerMessage } from "./attacker.ts";
import { fuzzNamespace } from "./requests.ts";

const { values } = asked("fuzz", {
  options: {
    requests: { type: "string", default: "1000000" },
    seed: { type: "string", default: "1" },
    heap: { type: "string" },
  },
});
const total = wholeNumber("fuzz", "requests", values.requests, 1);
const seed = wholeNumber("fuzz", "seed", values.seed);
const heap = values.heap === undefined ? {} : { heapMb: wholeNumber("fuzz", "heap", values.heap, 64) };
const workers = 2;
const concurrency = 8;
const warmUpRequests = 4_000;
const quietMs = 5_000;
/**
 * The watch history of the load is kept for five minutes, as kube-apiserver's; then its memory is given back.
 */
const settleMsMax = 400_000;
const shownMax = 20;
/**
 * The second client may wait this many times as long as in quiet; memory may be this much above what it was.
 */
const latencyFactorMax = 10;
const memoryFactorMax = 1.2;

const violations: string[] = [];
/** How often an answer of each form was seen: one example of each is shown. */
const forms = new Map<string, number>();
const statuses: Record<string, number> = {};

async function attack(target: Target, tokens: readonly string[], from: number, requests: number): Promise<void> {
  const each = Math.ceil(requests / workers);
  await Promise.all(
    Array.from({ length: workers }, (_, i) =>
      runWorker({
        url: target.url.href,
        ca: target.connection.ca ?? "",
        tokens,
        seed: from + i * each,
        requests: each,
        concurrency,
      }),
    ),
  );
}

function runWorker(input: AttackerInput): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("attacker.ts", import.meta.url), {
      workerData: input,
      execArgv: ["--conditions=@setpoint/source"],
    });
    let last: Readonly<Record<string, number>> = {};
    worker.on("message", (message: AttackerMessage) => {
      if (message.kind === "progress") last = message.statuses;
      else {
        const form = formOf(message.answer);
        forms.set(form, (forms.get(form) ?? 0) + 1);
        if (forms.get(form) === 1) violations.push(`seed ${message.seed}: ${message.answer}\n    ${message.request}`);
      }
    });
    worker.once("error", reject);
    worker.once("exit", () => {
      for (const [status, count] of Object.entries(last)) statuses[status] = (statuses[status] ?? 0) + count;
      resolve();
    });
  });
}

/** The message of an answer without what differs from one request to the next. */
function formOf(answer: string): string {
  const message = /"message":\s*"([^"]*)/.exec(answer)?.[1] ?? answer;
  return `${answer.slice(0, 3)} ${message.replace(/\d+|"[^"]*"/g, "…").slice(0, 200)}`;
}

/** A tenant that may do everything in the fuzzer's namespace, and an account that may do nothing. */
async function makeTokens(target: Target): Promise<readonly string[]> {
  await post(target, "/api/v1/namespaces", { metadata: { name: fuzzNamespace } });
  const accounts = `/api/v1/namespaces/${fuzzNamespace}/serviceaccounts`;
  for (const name of ["tenant", "nobody"]) await post(target, accounts, { metadata: { name } });
  await post(target, `/apis/rbac.authorization.k8s.io/v1/namespaces/${fuzzNamespace}/rolebindings`, {
    metadata: { name: "tenant" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
    subjects: [{ kind: "ServiceAccount", name: "tenant", namespace: fuzzNamespace }],
  });
  const tokens = await Promise.all(
    ["tenant", "nobody"].map(async (name) => {
      const { status } = JSON.parse(await post(target, `${accounts}/${name}/token`, { spec: {} })) as {
        status: { token: string };
      };
      return status.token;
    }),
  );
  // The tenant most often: refusals end early.
  const [tenant = "", nobody = ""] = tokens;
  return ["", nobody, ...Array.from({ length: 8 }, () => tenant)];
}

async function post(target: Target, path: string, object: object): Promise<string> {
  const headers = { "content-type": "application/json" };
  const { status, body } = await target.raw({
    method: "POST",
    path,
    as: "admin",
    headers,
    body: JSON.stringify(object),
  });
  if (status >= 300) throw new Error(`Cannot prepare the target: ${status} ${body}`);
  return body;
}

async function quantilesWhile(
  target: Target,
  task: () => Promise<void>,
): Promise<{ p50: number; p99: number; worst: number }> {
  await using bystander = target.bystander(20);
  await task();
  violations.push(...bystander.failures.slice(0, shownMax).map((failure) => `the second client: ${failure}`));
  return { p50: bystander.quantile(0.5), p99: bystander.quantile(0.99), worst: bystander.worstMs };
}

/** Resident memory as soon as it is back, or what it is at the end of the time that it has. */
async function settledBytes(target: Target, bytesMax: number): Promise<number> {
  for (let waitedMs = 0; waitedMs < settleMsMax && target.residentBytes() > bytesMax; waitedMs += 500) await delay(500);
  return target.residentBytes();
}

await using target = await Target.start(heap);
const tokens = await makeTokens(target);
await attack(target, tokens, seed + total, warmUpRequests);
await delay(2_000);
const before = target.residentBytes();
const quiet = await quantilesWhile(target, () => delay(quietMs));
const startMs = performance.now();
const loaded = await quantilesWhile(target, () => attack(target, tokens, seed, total));
const seconds = (performance.now() - startMs) / 1_000;
const peak = target.isRunning ? target.residentBytes() : 0;
if (target.isRunning) {
  await target.raw({ method: "DELETE", path: `/api/v1/namespaces/${fuzzNamespace}`, as: "admin" });
  const after = await settledBytes(target, before * memoryFactorMax);
  const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MB`;
  console.log(`memory: ${mb(before)} before, ${mb(peak)} at the end of the load, ${mb(after)} after`);
  if (after > before * memoryFactorMax) violations.push(`memory: ${mb(after)} after, ${mb(before)} before`);
} else violations.push(`the server ended: ${target.output.slice(-2_000)}`);
if (loaded.p99 > latencyFactorMax * quiet.p99)
  violations.push(`the second client's p99: ${loaded.p99.toFixed(1)} ms, ${quiet.p99.toFixed(1)} ms in quiet`);
for (const [form, count] of forms) console.log(`${count} × ${form}`);
console.log(`answers: ${JSON.stringify(statuses)}`);
console.log(
  `${total} requests in ${seconds.toFixed(0)} s; the second client waits ${quiet.p50.toFixed(1)}/${quiet.p99.toFixed(1)} ms in quiet (p50/p99), ` +
    `${loaded.p50.toFixed(1)}/${loaded.p99.toFixed(1)} ms under load, ${loaded.worst.toFixed(0)} ms at most; load average ${loadavg()[0]?.toFixed(1)}`,
);
for (const violation of violations.slice(0, shownMax)) console.log(`violation: ${violation}`);
console.log(`${violations.length === 0 ? "holds" : "FAILS"}: ${violations.length} violations`);
process.exitCode = violations.length === 0 ? 0 : 1;
