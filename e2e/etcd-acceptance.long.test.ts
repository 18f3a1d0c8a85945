/**
 * The acceptance tests that ship with the etcd operator, on a real etcd: all checks pass, and a check fails
 * when the cluster cannot do what it must.
 */
import { execFile } from "node:child_process";
import { AcceptanceRun } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import type { Client, KindRef } from "@setpoint/client";
import { Event, PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Playground } from "./etcd/playground.ts";

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const namespace = "default";
const target = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster" };

let playground: Playground;
let client: Client;
beforeAll(async () => {
  playground = await Playground.open();
  ({ client } = playground);
});
afterAll(() => playground?.[Symbol.asyncDispose]());

async function statusOf(name: string): Promise<NonNullable<AcceptanceRun["status"]> | undefined> {
  return (await client.get(AcceptanceRun, { name, namespace })).status;
}

async function ended(name: string, endMsMax: number): Promise<NonNullable<AcceptanceRun["status"]>> {
  return vi.waitFor(
    async () => {
      const status = await statusOf(name);
      if (status?.finishedAt === undefined) throw new Error(`${name} has not ended: ${JSON.stringify(status)}`);
      return status;
    },
    { timeout: endMsMax, interval: 500 },
  );
}

async function expectNothingLeft(): Promise<void> {
  for (const kind of [EtcdCluster, Pod, PersistentVolumeClaim] as readonly KindRef[])
    expect((await client.listAll(kind, { namespace })).items.map(({ metadata }) => metadata.name)).toEqual([]);
}

test("all checks pass on a real etcd, and nothing is left but the report", { timeout: 600_000 }, async () => {
  const spec = { target, checkTimeoutSeconds: 180 };
  await client.create(AcceptanceRun, AcceptanceRun({ name: "proof", namespace, spec }));
  const status = await ended("proof", 580_000);
  for (const { name, state, seconds, message } of status.checks)
    console.log(`${name}: ${state} after ${seconds} s${message === undefined ? "" : `: ${message}`}`);
  expect(status, JSON.stringify(status)).toMatchObject({ phase: "Passed", passed: 8, failed: 0, skipped: 0 });
  await expectNothingLeft();
  const { items } = await client.listAll(Event, { namespace });
  const told = items.filter(({ involvedObject }) => involvedObject.name === "proof").map(({ reason }) => reason);
  expect(new Set(told)).toEqual(new Set(["CheckPassed"]));
});

test("the command prints a line for each check, and exits with 0", { timeout: 300_000 }, async () => {
  const args = ["EtcdCluster", "-n", namespace, "--name", "typed", "--check", "removal", "--check-timeout", "120"];
  const { code, stdout, stderr } = await command("accept", ...args, "--kubeconfig", playground.kubeconfig);
  expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
  const [first = "", ...lines] = stdout.trim().split("\n");
  expect(first).toBe(`AcceptanceRun ${namespace}/typed of EtcdCluster`);
  expect(lines.map((line) => line.split(/ +/).slice(0, 2).join(" "))).toEqual([
    "create-and-use passed",
    "removal passed",
    "clean-up passed",
    "Passed: 3",
  ]);
  await expectNothingLeft();
});

test(
  "a cluster that its operator leaves alone fails the check, and the command exits with 1",
  { timeout: 300_000 },
  async () => {
    const args = ["EtcdCluster", "-n", namespace, "--name", "broken", "--check", "change", "--check-timeout", "60"];
    const running = command("accept", ...args, "--kubeconfig", playground.kubeconfig);
    const isUp = async (): Promise<void> => {
      const [check] = (await statusOf("broken"))?.checks ?? [];
      if (check?.state !== "Passed") throw new Error(`the first check is ${check?.state}: ${check?.message}`);
    };
    await vi.waitFor(isUp, { timeout: 90_000, interval: 200 });
    await client.patch(EtcdCluster, { name: "broken-main", namespace }, { spec: { paused: true } });
    const { code, stdout } = await running;
    expect(code, stdout).toBe(1);
    expect(stdout).toMatch(
      /^change +failed +\d+ s {2}not finished within 60 s: EtcdCluster "broken-main": it is Paused/m,
    );
    await expectNothingLeft();
  },
);

interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `setpoint` as a user starts it. */
function command(...args: readonly string[]): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [bin, ...args], (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
