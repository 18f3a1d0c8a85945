/** 25 6: what a change of an etcd cluster's file would do, before anything is applied, on real etcd. */
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EtcdCluster } from "@setpoint/etcd-operator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { stringify } from "yaml";
import { Playground } from "./etcd/playground.ts";

const command = fileURLToPath(new URL("../packages/cli/bin/setpoint.mjs", import.meta.url));
const operator = fileURLToPath(new URL("../operators/etcd/src/operator.ts", import.meta.url));
const volumeClaimTemplate = { accessModes: ["ReadWriteOnce" as const], resources: { requests: { storage: "512Mi" } } };
const present = { size: 3, version: "3.4.23", volumeClaimTemplate } as const;

const head = { apiVersion: `${EtcdCluster.group}/${EtcdCluster.version}`, kind: EtcdCluster.kind };

let playground: Playground;
beforeAll(async () => {
  playground = await Playground.open();
});
afterAll(() => playground?.[Symbol.asyncDispose]());

interface Planned {
  readonly code: number | null;
  readonly text: string;
}

/** Of a file with these specs. */
async function planOf(specs: Readonly<Record<string, object>>): Promise<Planned> {
  using folder = mkdtempDisposableSync(join(tmpdir(), "setpoint-plan-"));
  const file = join(folder.path, "clusters.yaml");
  const documents = Object.entries(specs).map(([name, spec]) => stringify({ ...head, metadata: { name }, spec }));
  writeFileSync(file, documents.join("---\n"));
  const args = [command, "plan", operator, "-f", file, "--kubeconfig", playground.kubeconfig];
  // Not synchronous: the API server is in this process.
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, text };
}

test("a changed file gets its steps in order, with interruptions and points of no return, and nothing happens", async () => {
  await playground.tell("previewed", present, async (cluster) => {
    const before = await cluster.get();
    const pods = new Set((await cluster.pods()).map(({ metadata }) => metadata.uid));
    const [upgrade, same, sleep, sized, refused, blind] = await Promise.all([
      planOf({ previewed: { ...present, version: "3.5.16" } }),
      planOf({ previewed: present }),
      planOf({ previewed: { ...present, hibernated: true } }),
      planOf({ previewed: { ...present, plan: "small" } }),
      planOf({ previewed: { ...present, version: "2.0.0" }, fresh: present }),
      planOf({}),
    ]);
    expect(upgrade.code).toBe(2);
    expect(upgrade.text).toContain("~ EtcdCluster default/previewed\n    from ");
    expect(upgrade.text).toContain("  - spec.version: 3.4.23\n  + spec.version: 3.5.16\n");
    const { leader } = before.status ?? {};
    const steps = [...upgrade.text.matchAll(/^ {4}\d\. (\w+) (\S+):/gm)].map(([, action, member]) => ({
      action,
      member,
    }));
    expect(steps.map(({ action }) => action)).toEqual([
      ...["RestartMember", "RestartMember", "SwitchLeader", "RestartMember"],
    ]);
    expect(steps.at(-1)?.member).toBe(leader);
    expect(upgrade.text).toContain("interruption: writes wait for less than 1 s");
    expect(upgrade.text).toContain("point of no return: etcd cannot be downgraded");

    expect(sleep.text).toContain("1. StopMembers: the cluster hibernates, and keeps its volumes");
    expect(sleep.text).toContain("interruption: reads and writes fail until spec.hibernated is false again");
    expect(sized.text.match(/RestartMember \S+: settings of plan, pod and options have changed/g)).toHaveLength(3);

    expect(same).toMatchObject({ code: 0, text: expect.stringContaining("No changes.") });
    for (const { text } of [upgrade, same, sleep, sized]) {
      // The pods of the embedded cluster have a network of their own.
      expect(text).toContain("previewed could not reach the pods of its members from here: it uses the members");
      expect(text).not.toContain("refused");
    }

    // Without an object, the plan is about all clusters.
    expect(blind).toMatchObject({ code: 1, text: expect.stringContaining("what it would do next is not known") });
    expect(blind.text).toContain("No changes. There may be more behind what could not be reached.");

    expect(refused.code).toBe(2);
    expect(refused.text).toMatch(/would be refused: .*spec\.version/);
    expect(refused.text).toContain("+ EtcdCluster default/fresh\n");

    const after = await cluster.get();
    expect(after.metadata.generation).toBe(before.metadata.generation);
    expect(new Set((await cluster.pods()).map(({ metadata }) => metadata.uid))).toEqual(pods);
  });
});
