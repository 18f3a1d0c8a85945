/**
 * `npm run attack:endurance -- [--minutes 10]`: the attack suite in a loop, beside an etcd cluster of three
 * members that a writer keeps a ledger of. It fails when an acknowledged write is lost, when the API server
 * beside it stops answering, or when an attack succeeds.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "@setpoint/client";
import { httpTransport, resolveConnection } from "@setpoint/client/node";
import { systemClock, systemHost } from "@setpoint/host/system";
import { ClusterUnderTour } from "../../examples/etcd/tour/cluster-under-tour.ts";
import { LedgerWriter } from "../../examples/etcd/tour/ledger-writer.ts";
import { asked, wholeNumber } from "../../tools/flags/asked.ts";

const { values } = asked("attack", { options: { minutes: { type: "string", default: "10" } } });
const minutes = wholeNumber("attack", "minutes", values.minutes, 1);
const root = new URL("../../", import.meta.url).pathname;
const startMsMax = 180_000;
const stopMsMax = 30_000;
/** The API server answers each request within this time, whatever happens beside it. */
const answerMsMax = 10_000;
const pollMs = 250;

interface RunningExample extends AsyncDisposable {
  readonly kubeconfig: string;
}

/** `npm start`, without its tour. */
async function startExample(folder: string): Promise<RunningExample> {
  const kubeconfig = join(folder, "kubeconfig");
  const script = join(root, "examples/start.ts");
  const flags = ["--data-dir", join(folder, "data"), "--kubeconfig", kubeconfig];
  const child = spawn(process.execPath, ["--conditions=@setpoint/source", script, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const ready = new Promise<boolean>((resolve) => {
    let text = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes("Ready after")) resolve(true);
    });
  });
  const stop = async (): Promise<void> => {
    child.kill("SIGINT");
    if (await Promise.race([ended.then(() => true), delay(stopMsMax, false)])) return;
    child.kill("SIGKILL");
    await ended;
  };
  if (!(await Promise.race([ready, ended.then(() => false), delay(startMsMax, false)]))) {
    await stop();
    throw new Error("npm start did not become ready");
  }
  return { kubeconfig, [Symbol.asyncDispose]: stop };
}

/** One run of the suite; whether every attack failed. */
async function runAttacks(): Promise<boolean> {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const child = spawn(
    process.execPath,
    [vitest, "run", "--project", "attack", "--project", "attack-load", "--reporter=dot"],
    {
      cwd: root,
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  return (await new Promise<number | null>((resolve) => child.once("close", resolve))) === 0;
}

/** Asks for the EtcdCluster until it is stopped. */
class ApiProbe implements AsyncDisposable {
  readonly failures: string[] = [];
  worstMs = 0;
  #isOver = false;
  readonly #loop: Promise<void>;

  constructor(cluster: ClusterUnderTour) {
    this.#loop = this.#run(cluster);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await this.#loop;
  }

  async #run(cluster: ClusterUnderTour): Promise<void> {
    while (!this.#isOver) {
      const startMs = systemClock.monotonic();
      const failure = await cluster.get().then(
        () => undefined,
        (error: unknown) => String(error),
      );
      const tookMs = systemClock.monotonic() - startMs;
      if (failure !== undefined || tookMs > answerMsMax) this.failures.push(failure ?? `took ${Math.round(tookMs)} ms`);
      this.worstMs = Math.max(this.worstMs, tookMs);
      await delay(pollMs);
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), "setpoint-endurance-"));
try {
  await using example = await startExample(folder);
  const { connection } = resolveConnection({ clock: systemClock, kubeconfig: example.kubeconfig });
  await using transport = httpTransport({ ...connection, clock: systemClock, userAgent: "endurance" });
  const client = createClient(transport, systemHost());
  const operator = { name: "etcd-operator", namespace: "setpoint-system" };
  const cluster = new ClusterUnderTour(client, "orders", "default", operator);
  await using writer = new LedgerWriter(await cluster.clientEndpoint());
  await using probe = new ApiProbe(cluster);
  const endMs = systemClock.monotonic() + minutes * 60_000;
  let rounds = 0;
  let failedRounds = 0;
  while (systemClock.monotonic() < endMs) {
    rounds++;
    if (!(await runAttacks())) failedRounds++;
  }
  const { acknowledged, lost, errors, longestGapMs } = await writer.finish();
  const holds = lost.length === 0 && probe.failures.length === 0 && failedRounds === 0 && acknowledged > 0;
  console.log(
    `${rounds} rounds of attacks, ${failedRounds} failed; ${acknowledged} acknowledged writes, ${lost.length} lost, ${errors} errors, ` +
      `longest gap ${(longestGapMs / 1_000).toFixed(1)} s; the API answered within ${Math.round(probe.worstMs)} ms, ` +
      `${probe.failures.length} failures; load average ${loadavg()[0]?.toFixed(1)}`,
  );
  for (const failure of probe.failures.slice(0, 5)) console.log(failure);
  console.log(holds ? "holds" : "FAILS");
  process.exitCode = holds ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
