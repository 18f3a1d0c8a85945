/** Kills of node agents and of `setpoint up`: what they cost the pods and the API. */
import { readdirSync, readFileSync } from "node:fs";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { Pod } from "@setpoint/api";
import { isNotFound } from "@setpoint/apimachinery";
import { expect, onTestFinished, test } from "vitest";
import { missingForPods } from "../node/test-cluster.ts";
import { processesWith } from "../processes.ts";
import { Target } from "./target.ts";

const missing = missingForPods();
const run = test.skipIf(missing !== "");
const image = "quay.io/coreos/etcd:v3.5.16";

function folder(): string {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-attack-kill-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The agents are children of `up` that run its own program. */
function agentsOf(target: Target): readonly number[] {
  const pid = target.process.pid ?? 0;
  const isChild = (child: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${child}/stat`, "utf8");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      return parent === pid && readFileSync(`/proc/${child}/cmdline`, "utf8").includes("setpoint.mjs\0node");
    } catch {
      return false;
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && isChild(name))
    .map(Number);
}

/** An etcd of one member: it has a state that would be lost, and says whether it works. */
async function createPod(target: Target, name: string): Promise<void> {
  const ip = { name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } };
  const url = "http://$(IP):2379";
  const command = ["etcd", "--data-dir=/var/lib/etcd", `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`];
  const container = {
    name: "main",
    image,
    env: [ip],
    command: [...command, "--listen-peer-urls=http://$(IP):2380"],
    readinessProbe: { httpGet: { path: "/health", port: 2379 }, periodSeconds: 1 },
  };
  const pod = Pod({ name, namespace: "default", spec: { terminationGracePeriodSeconds: 5, containers: [container] } });
  await expect.poll(() => target.admin.apply(Pod, pod, { fieldManager: "attack", force: true })).toBeTruthy();
}

interface Seen {
  readonly isReady: boolean;
  readonly restarts: number;
  readonly startedAt: string | undefined;
}

async function look(target: Target, name: string): Promise<Seen> {
  const { status } = await target.admin.get(Pod, { namespace: "default", name });
  const container = status?.containerStatuses?.[0];
  return {
    isReady: status?.conditions?.find(({ type }) => type === "Ready")?.status === "True",
    restarts: container?.restartCount ?? 0,
    startedAt: container?.state?.running?.startedAt,
  };
}

function untilReady(target: Target, name: string): Promise<void> {
  return expect.poll(async () => (await look(target, name)).isReady, { timeout: 60_000, interval: 100 }).toBe(true);
}

function memberOf(directory: string): readonly number[] {
  return processesWith("--data-dir=/var/lib/etcd").filter((pid) => cgroupOrRootOf(pid, directory));
}

/**
 * Whether the process is one of the cluster under test: its output is written by a monitor with that folder's
 * name.
 */
function cgroupOrRootOf(pid: number, directory: string): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const parent = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1];
    return readFileSync(`/proc/${parent}/cmdline`, "utf8").includes(directory);
  } catch {
    return false;
  }
}

/** When the container of `member` stays as it is, the error has what the agent knows of it. */
async function untilRestarted(target: Target, directory: string): Promise<void> {
  const restarts = async (): Promise<number> => (await look(target, "member")).restarts;
  await expect
    .poll(restarts, { timeout: 60_000 })
    .toBe(1)
    .catch(async (cause: unknown) => {
      const { status } = await target.admin.get(Pod, { namespace: "default", name: "member" });
      const known = { members: memberOf(directory), agents: agentsOf(target), containers: status?.containerStatuses };
      throw new Error(`${JSON.stringify(known)}\n${target.output.slice(-3_000)}`, { cause });
    });
}

run(`a node agent that is killed costs its pods nothing and is started again${missing}`, async () => {
  const directory = folder();
  await using target = await Target.start({ directory });
  await createPod(target, "member");
  await untilReady(target, "member");
  const before = await look(target, "member");
  const [member] = memberOf(directory);
  for (let kill = 0; kill < 3; kill++) {
    const [agent = 0] = agentsOf(target);
    process.kill(agent, "SIGKILL");
    await expect.poll(() => agentsOf(target).filter((pid) => pid !== agent), { timeout: 5_000 }).toHaveLength(1);
    expect(memberOf(directory)).toEqual([member]);
    const restarts = (): number => target.output.match(/the agent is ready again/g)?.length ?? 0;
    await expect.poll(restarts, { timeout: 20_000 }).toBe(kill + 1);
  }
  expect(await look(target, "member")).toEqual(before);
  expect(memberOf(directory)).toEqual([member]);
  // The new agent has the pod in hand: its log is there, and its end is noticed.
  const log = await target.raw({ path: "/api/v1/namespaces/default/pods/member/log?tailLines=1", as: "admin" });
  expect([log.status, log.body.length > 0]).toEqual([200, true]);
  process.kill(member ?? 0, "SIGKILL");
  await untilRestarted(target, directory);
});

run("what happens to a pod while its agent is away is seen by the next one", async () => {
  const directory = folder();
  await using target = await Target.start({ directory });
  for (const name of ["ends", "goes"]) await createPod(target, name);
  for (const name of ["ends", "goes"]) await untilReady(target, name);
  const [agent = 0] = agentsOf(target);
  const members = memberOf(directory);
  process.kill(agent, "SIGKILL");
  process.kill(members[0] ?? 0, "SIGKILL");
  await target.admin.delete(Pod, { namespace: "default", name: "goes" });
  const isGone = (): Promise<boolean> =>
    target.admin.get(Pod, { namespace: "default", name: "goes" }).then(
      () => false,
      (error: unknown) => isNotFound(error),
    );
  await expect.poll(isGone, { timeout: 30_000 }).toBe(true);
  await untilReady(target, "ends");
  await expect.poll(() => memberOf(directory).length).toBe(1);
});

run("'setpoint up' that is killed leaves its pods to the next start, and ^C leaves nothing", async () => {
  const directory = folder();
  let before: Seen;
  let member: number | undefined;
  {
    await using first = await Target.start({ directory });
    await createPod(first, "member");
    await untilReady(first, "member");
    before = await look(first, "member");
    [member] = memberOf(directory);
    first.process.kill("SIGKILL");
    await expect.poll(() => first.isRunning).toBe(false);
  }
  await delay(1_000);
  expect(memberOf(directory)).toEqual([member]);
  {
    await using second = await Target.start({ directory });
    await untilReady(second, "member");
    expect(await look(second, "member")).toEqual(before);
    expect(memberOf(directory)).toEqual([member]);
  }
  expect(processesWith(directory)).toEqual([]);
  expect(memberOf(directory)).toEqual([]);
});
