/**
 * Creates a second without a network, through authorization, admission and field tracking; in memory and
 * durable.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ControlPlaneOptions } from "@setpoint/controlplane";
import { repeat, report } from "./report.ts";
import { candies, configMaps, prepare, start, type Workload, measureWrites } from "./workload.ts";

const count = 10_000;
const writers = 100;
const runs = 7;

async function measure(what: string, workload: Workload, options: ControlPlaneOptions): Promise<void> {
  await using plane = await start(options);
  const transport = await prepare(plane);
  await measureWrites([transport], workload, count, writers);
  const rates = await repeat(runs, () => measureWrites([transport], workload, count, writers));
  report({ what, unit: "writes/s", samples: rates.map(({ perSecond }) => perSecond), goal: "≥ 20,000" });
  report({ what: "  of processor time", unit: "writes/s", samples: rates.map(({ perCpuSecond }) => perCpuSecond) });
}

async function measureDurable(what: string, workload: Workload): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-bench-"));
  await measure(what, workload, { directory });
  rmSync(directory, { recursive: true });
}

const cases: readonly (() => Promise<void>)[] = [
  () => measure("ConfigMaps, memory, no controllers", configMaps, { controllers: false }),
  () => measure("ConfigMaps, memory, controllers run", configMaps, {}),
  () => measure("custom kind, memory, controllers run", candies, {}),
  () => measureDurable("ConfigMaps, durable, controllers run", configMaps),
  () => measureDurable("custom kind, durable, controllers run", candies),
];

// Each in a process of its own: what one leaves behind on the heap would slow the next.
const chosen = process.argv[2];
if (chosen !== undefined) await cases[Number(chosen)]?.();
else {
  const file = fileURLToPath(import.meta.url);
  for (const index of cases.keys()) {
    spawnSync(process.execPath, [...process.execArgv, file, String(index)], { stdio: "inherit" });
  }
}
