/**
 * Measures one cluster as its client: pods created at once, until each is Ready; what they cost then; how
 * long it takes until all are gone. `measure.ts ORDER`, where the order is a `MeasurementOrder` as JSON.
 */
import { writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Pod, ServiceAccount } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { type Client, createClient } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { cpuSeconds, machineBusySeconds, memory, type WhichProcesses } from "./cluster-processes.ts";
import { startLatencyProbe } from "./latency-probe.ts";
import type { Measurement, MeasurementOrder } from "./measurement.ts";
import { PodTimes } from "./pod-times.ts";
import { idlePod, namespace } from "./workload.ts";

/** A pod that takes longer is one that fails. */
const msMaxAtLeast = 120_000;
const msMaxPerPod = 1_500;
/** Until what a burst of pods began is done, and memory of it is given back. */
const settleMs = 10_000;
const accountMsMax = 30_000;

async function measure(client: Client, order: MeasurementOrder): Promise<Measurement> {
  const { pods, idleSeconds, processes, kubeconfig } = order;
  const msMax = Math.max(msMaxAtLeast, pods * msMaxPerPod);
  await using times = new PodTimes(client);
  await warmUp(client, times);
  await pause(settleMs);
  const loadBefore = load();
  const emptyIdlePercent = await idlePercent(processes, idleSeconds);
  const before = memory(processes);

  const creating = await startLatencyProbe(kubeconfig);
  const [cpuBefore, busyBefore] = [cpuSeconds(processes), machineBusySeconds()];
  const beginMs = performance.now();
  await Promise.all(Array.from({ length: pods }, (_, i) => client.create(Pod, idlePod(`pod-${i}`))));
  await times.untilReady(pods, msMax);
  const [cpuAfter, busyAfter] = [cpuSeconds(processes), machineBusySeconds()];
  const apiMs = await creating.stop();

  await pause(settleMs);
  const idle = await idlePercent(processes, idleSeconds);
  const after = memory(processes);
  const readyMs = times.readyMs(beginMs);
  const complaints = times.complaints();

  const deleting = await startLatencyProbe(kubeconfig);
  const deleteMs = await deleteAll(client, times, msMax);
  return {
    ...{ pods, readyMs, deleteMs, before, after, complaints, emptyIdlePercent, idlePercent: idle },
    cpuSeconds: cpuAfter - cpuBefore,
    machineBusySeconds: busyAfter - busyBefore,
    apiMs: sorted(apiMs),
    apiDeleteMs: sorted(await deleting.stop()),
    ...{ loadBefore, loadAfter: load() },
  };
}

/** The first pod unpacks the image and warms the code. */
async function warmUp(client: Client, times: PodTimes): Promise<void> {
  await untilAccount(client);
  await client.create(Pod, idlePod("warm-up"));
  if (!(await times.untilReady(1, msMaxAtLeast)))
    throw new Error(`The first pod is not Ready: ${JSON.stringify(times.complaints())}`);
  await deleteAll(client, times, msMaxAtLeast);
}

/** Pods are refused until a controller has created the ServiceAccount that they use. */
async function untilAccount(client: Client): Promise<void> {
  const deadlineMs = performance.now() + accountMsMax;
  for (;;) {
    try {
      return void (await client.get(ServiceAccount, { namespace, name: "default" }));
    } catch (error) {
      if (!isNotFound(error) || performance.now() > deadlineMs) throw error;
      await pause(100);
    }
  }
}

async function deleteAll(client: Client, times: PodTimes, msMax: number): Promise<number> {
  const beginMs = performance.now();
  await client.deleteCollection(Pod, { namespace });
  return (await times.untilGone(msMax)) ? performance.now() - beginMs : NaN;
}

async function idlePercent(processes: WhichProcesses, seconds: number): Promise<number> {
  const [cpu, beginMs] = [cpuSeconds(processes), performance.now()];
  await pause(seconds * 1_000);
  return ((cpuSeconds(processes) - cpu) * 100_000) / (performance.now() - beginMs);
}

function sorted(values: readonly number[]): readonly number[] {
  return values.toSorted((a, b) => a - b);
}

function load(): number {
  return loadavg()[0] ?? NaN;
}

// The parent is a script beside this one, which made this text.
const order = JSON.parse(process.argv[2] ?? "") as MeasurementOrder;
await using transport = connect({ clock: systemClock, kubeconfig: order.kubeconfig, userAgent: "setpoint-bench" });
const client = createClient(transport, { clock: systemClock, random: systemRandom });
writeFileSync(order.resultFile, JSON.stringify(await measure(client, order)));
