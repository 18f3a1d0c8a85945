/** Owner references that form a circle, made by anybody who may create, patch and delete a ConfigMap. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ConfigMap, Namespace } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { type Client, createClient } from "@setpoint/client";
import { startControlPlane } from "@setpoint/controlplane";
import { silentLogger } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { Target } from "./target.ts";

const namespace = "default";
const policies = ["Foreground", "Background", "Orphan"] as const;
const lengths = [1, 2, 3, 4, 5];
const worstMsMax = 2_000;
const quietHost = { ...systemHost(), log: silentLogger };

/** Each object owns the next one and the last owns the first, all with `blockOwnerDeletion`. */
async function makeCircle(client: Client, prefix: string, length: number): Promise<readonly string[]> {
  const names = Array.from({ length }, (_, i) => `${prefix}-${i}`);
  const made = [];
  for (const name of names) made.push(await client.create(ConfigMap, ConfigMap({ name, namespace })));
  for (const [i, name] of names.entries()) {
    const owner = made[(i + length - 1) % length];
    const ownerReferences = [
      {
        apiVersion: "v1",
        kind: "ConfigMap",
        name: owner?.metadata.name ?? "",
        uid: owner?.metadata.uid ?? "",
        blockOwnerDeletion: true,
      },
    ];
    await client.patch(ConfigMap, { name, namespace }, { metadata: { ownerReferences } });
  }
  return names;
}

async function exists(client: Client, name: string): Promise<boolean> {
  try {
    await client.get(ConfigMap, { name, namespace });
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

async function untilGone(client: Client, names: readonly string[]): Promise<void> {
  for (const name of names) await expect.poll(() => exists(client, name), { timeout: 20_000 }).toBe(false);
}

function ended(target: Target): Promise<boolean> {
  const { process: child } = target;
  if (!target.isRunning) return Promise.resolve(true);
  return Promise.race([
    new Promise<boolean>((resolve) => child.once("exit", () => resolve(true))),
    delay(20_000, false),
  ]);
}

test("circles of owners of length 1 to 5 are deleted in every mode, and others are served meanwhile", async () => {
  await using target = await Target.start();
  await using bystander = target.bystander(10);
  const { admin } = target;
  const cases = policies.flatMap((policy) => lengths.map((length) => ({ policy, length })));
  await Promise.all(
    cases.map(async ({ policy, length }) => {
      const names = await makeCircle(admin, `${policy.toLowerCase()}-${length}`, length);
      await admin.delete(ConfigMap, { name: names[0] ?? "", namespace }, { propagationPolicy: policy });
      await untilGone(admin, policy === "Orphan" ? names.slice(0, 1) : names);
    }),
  );
  expect(bystander.failures).toEqual([]);
  expect(bystander.worstMs).toBeLessThan(worstMsMax);
  target.process.kill("SIGTERM");
  expect(await ended(target)).toBe(true);
});

test("a circle whose members are all deleted in the foreground at once is deleted", async () => {
  await using target = await Target.start();
  await using bystander = target.bystander(10);
  const { admin } = target;
  await Promise.all(
    lengths.map(async (length) => {
      const names = await makeCircle(admin, `all-${length}`, length);
      const options = { propagationPolicy: "Foreground" } as const;
      await Promise.all(names.map((name) => admin.delete(ConfigMap, { name, namespace }, options).catch(() => {})));
      await untilGone(admin, names);
    }),
  );
  expect(bystander.failures).toEqual([]);
  expect(bystander.worstMs).toBeLessThan(worstMsMax);
});

test("circles that wait for themselves on disk are deleted by the next start", async () => {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-circle-"));
  try {
    const circles: (readonly string[])[] = [];
    {
      // Without a garbage collector the circles stay as the deletion left them.
      await using plane = await startControlPlane({ host: quietHost, directory, controllers: false });
      const client = createClient(plane.transport, quietHost);
      await client.create(Namespace, Namespace({ name: namespace })).catch(() => {});
      for (const length of [1, 2]) {
        const names = await makeCircle(client, `kept-${length}`, length);
        circles.push(names);
        for (const name of names)
          await client.delete(ConfigMap, { name, namespace }, { propagationPolicy: "Foreground" });
      }
    }
    await using target = await Target.start({ directory });
    await using bystander = target.bystander(10);
    for (const names of circles) await untilGone(target.admin, names);
    expect(bystander.failures).toEqual([]);
    expect(bystander.worstMs).toBeLessThan(worstMsMax);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
