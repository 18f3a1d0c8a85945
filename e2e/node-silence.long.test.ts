/**
 * A node agent that stands still: what the API says of its node and pods while nothing is known, and after it
 * comes back.
 */
import { readdirSync, readFileSync } from "node:fs";
import { Node, Pod } from "@setpoint/api";
import { expect, onTestFinished, test } from "vitest";
import { Target } from "./attack/target.ts";
import { missingForPods } from "./node/test-cluster.ts";

const missing = missingForPods();
/** Upstream's grace of 50 s, and a few looks. */
const silenceMsMax = 75_000;

function agentOf(target: Target): number {
  const isAgent = (pid: string): boolean => {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const isChild = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === target.process.pid;
      return isChild && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("setpoint.mjs\0node");
    } catch {
      return false;
    }
  };
  const found = readdirSync("/proc").find((name) => /^\d+$/.test(name) && isAgent(name));
  if (found === undefined) throw new Error("no agent runs");
  return Number(found);
}

test.skipIf(missing !== "")(
  `a silent node is Unknown, its pods are not ready, and both come back${missing}`,
  async () => {
    await using target = await Target.start();
    const url = "http://$(IP):2379";
    const container = {
      name: "main",
      image: "quay.io/coreos/etcd:v3.5.16",
      env: [{ name: "IP", valueFrom: { fieldRef: { fieldPath: "status.podIP" } } }],
      command: ["etcd", "--data-dir=/tmp/etcd", `--listen-client-urls=${url}`, `--advertise-client-urls=${url}`],
      args: ["--listen-peer-urls=http://$(IP):2380"],
    };
    const pod = Pod({ name: "member", namespace: "default", spec: { containers: [container] } });
    await target.admin.apply(Pod, pod, { fieldManager: "test", force: true });
    const podIsReady = async (): Promise<string | undefined> => {
      const { status } = await target.admin.get(Pod, { namespace: "default", name: "member" });
      return status?.conditions?.find(({ type }) => type === "Ready")?.status;
    };
    const conditions = async (): Promise<readonly string[]> => {
      const { status } = await target.admin.get(Node, { name: "node-1" });
      return (status?.conditions ?? []).map(({ type, status: is, reason }) => `${type} ${is} ${reason ?? ""}`).sort();
    };
    await expect.poll(podIsReady, { timeout: 60_000 }).toBe("True");

    const agent = agentOf(target);
    process.kill(agent, "SIGSTOP");
    onTestFinished(() => {
      try {
        process.kill(agent, "SIGCONT");
      } catch {
        // It has ended with its parent.
      }
    });
    await expect
      .poll(conditions, { timeout: silenceMsMax, interval: 500 })
      .toEqual(
        ["DiskPressure", "MemoryPressure", "PIDPressure", "Ready"].map((type) => `${type} Unknown NodeStatusUnknown`),
      );
    await expect.poll(podIsReady, { timeout: 10_000 }).toBe("False");
    const { spec } = await target.admin.get(Node, { name: "node-1" });
    // It is the only node, so that nothing is evicted.
    expect(spec?.taints?.map(({ key, effect }) => `${key} ${effect}`)).toEqual([
      "node.kubernetes.io/unreachable NoSchedule",
    ]);

    process.kill(agent, "SIGCONT");
    await expect.poll(podIsReady, { timeout: 30_000 }).toBe("True");
    await expect.poll(async () => (await conditions()).at(-1), { timeout: 10_000 }).toBe("Ready True KubeletReady");
  },
);
