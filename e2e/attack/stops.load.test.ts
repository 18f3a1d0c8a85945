/** Stops `setpoint up` at any moment while pods are created, on a busy machine: nothing of it is left. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pod } from "@setpoint/api";
import { createClient } from "@setpoint/client";
import { httpTransport, resolveConnection } from "@setpoint/client/node";
import { seededRandom } from "@setpoint/host/simulated";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { afterAll, beforeAll, expect, test } from "vitest";
import { childOf, leftoversOf, ProcessSpace } from "../leftovers.ts";
import { missingForPods } from "../node/test-cluster.ts";
import { toolsImage, toolsImageSource } from "../node/tools-image.ts";

const reason = missingForPods();
const bin = new URL("../../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const stops = Number(process.env["ATTACK_STOPS"] ?? 8);
const podsAtATime = 12;
const createMsMax = 3_000;
const busyLoops = 2;

let load: readonly ChildProcess[] = [];
beforeAll(() => {
  if (reason === "") load = Array.from({ length: busyLoops }, () => spawn("sh", ["-c", "while :; do :; done"]));
});
afterAll(() => load.forEach((each) => each.kill("SIGKILL")));

const random = seededRandom(20);
const { closure, ...tools } = toolsImageSource;
const catalogued = { name: toolsImage, ...closure, ...tools };

test.skipIf(reason !== "")(
  `up that is stopped ${stops} times while pods are created leaves nothing ${reason}`,
  async () => {
    await using parts = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "setpoint-stops-"));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const space = parts.use(await ProcessSpace.open());
    const left: string[] = [];
    for (let stop = 0; stop < stops; stop++) {
      const directory = join(folder, `data-${stop}`);
      const afterMs = Math.floor(random.next() * createMsMax);
      await stopWhileCreating(space, folder, directory, afterMs);
      const found = [...space.processes(), ...leftoversOf({ directory, nodes: ["node-1"] })];
      left.push(...found.map((each) => `stop ${stop} after ${afterMs} ms: ${each}`));
    }
    expect(left).toEqual([]);
  },
  1_200_000,
);

async function stopWhileCreating(
  space: ProcessSpace,
  folder: string,
  directory: string,
  afterMs: number,
): Promise<void> {
  const kubeconfig = join(folder, "kubeconfig");
  const images = join(folder, "images.json");
  writeFileSync(images, JSON.stringify({ images: [catalogued] }));
  const [program = "", ...enter] = space.enter;
  const up = ["up", "--data-dir", directory, "--kubeconfig", kubeconfig, "--images", images];
  const child = spawn(program, [...enter, process.execPath, "--conditions=@setpoint/source", bin, ...up], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  await untilReady(child, ended);
  await createPods(kubeconfig);
  await delay(afterMs);
  process.kill(childOf(child.pid ?? 0), "SIGTERM");
  await ended;
}

async function untilReady(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  let said = "";
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes("Ready: ")) resolve();
    });
  });
  await Promise.race([ready, ended.then(() => Promise.reject(new Error(`setpoint up ended: ${said}`)))]);
}

async function createPods(kubeconfig: string): Promise<void> {
  const { connection } = resolveConnection({ clock: systemClock, kubeconfig });
  await using transport = httpTransport({ ...connection, clock: systemClock, userAgent: "test" });
  const client = createClient(transport, { clock: systemClock, random: systemRandom });
  const container = { name: "main", image: toolsImage, command: ["sh", "-c", "trap 'exit 0' TERM; sleep 1000 & wait"] };
  const spec = { containers: [container, { ...container, name: "second" }], terminationGracePeriodSeconds: 1 };
  const names = Array.from({ length: podsAtATime }, (_, i) => `pod-${i}`);
  await Promise.all(names.map((name) => client.create(Pod, Pod({ name, namespace: "default", spec }))));
}
