/**
 * Pods that take all they can get: processes, memory, disk and logs. A pod beside them, the node and the API
 * go on.
 */
import { Node, Pod } from "@setpoint/api";
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isReady, missingForPods, type PodView, TestCluster } from "../node/test-cluster.ts";
import { perlImage, toolsImage } from "../node/tools-image.ts";

const missing = missingForPods();
/** What another pod, or another client, waits at most while a pod does its worst. */
const waitMsMax = 3_000;
const hasCgroups = existsSync("/sys/fs/cgroup/memory") || existsSync("/sys/fs/cgroup/cgroup.subtree_control");

let cluster: TestCluster;

interface Measured {
  readonly podMs: number;
  readonly apiMs: number;
}

/** The worst of what a bystander pod and a client of the API waited while `attack` went on. */
async function measured(attack: () => Promise<void>): Promise<Measured> {
  let isOver = false;
  let [podMs, apiMs] = [0, 0];
  const watch = (async () => {
    while (!isOver) {
      let start = performance.now();
      const answer = await cluster.exec("bystander", ["sh", "-c", "echo here > /tmp/x; cat /tmp/x"]);
      expect(answer).toEqual({ exitCode: 0, stdout: "here\n", stderr: "" });
      podMs = Math.max(podMs, performance.now() - start);
      start = performance.now();
      await cluster.get("Pod", "bystander");
      apiMs = Math.max(apiMs, performance.now() - start);
      await delay(50);
    }
  })();
  await attack().finally(() => (isOver = true));
  await watch;
  return { podMs, apiMs };
}

function expectCalm({ podMs, apiMs }: Measured): void {
  expect([podMs, apiMs].map((ms) => ms < waitMsMax)).toEqual([true, true]);
}

function manifest(name: string, script: string, container = "", pod = ""): string {
  return `
apiVersion: v1
kind: Pod
metadata: {name: ${name}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  ${pod}
  containers:
    - name: main
      image: ${toolsImage}
      command: [sh, -c, '${script}']
      ${container}
`;
}

const ended = ({ status }: PodView): boolean => ["Failed", "Succeeded"].includes(status.phase);

describe.skipIf(missing !== "")(`limits${missing}`, () => {
  beforeAll(async () => {
    cluster = await TestCluster.start(1);
    await cluster.apply(manifest("bystander", "sleep 1000"));
    await cluster.pod("bystander", isReady, 120);
  });

  afterAll(() => cluster?.[Symbol.asyncDispose]());

  test("a pod that makes processes without end stops at its own limit", async () => {
    // 2,000 tries of 200 shells each at most; with a limit far fewer are alive at a time.
    const script = "i=0; while [ $i -lt 2000 ]; do (sleep 20 &) 2>/dev/null || true; i=$((i+1)); done; sleep 20";
    await cluster.apply(manifest("forks", script));
    let most = 0;
    const times = await measured(async () => {
      for (let i = 0; i < 50; i++) {
        await delay(100);
        most = Math.max(most, processesOf("sleep\0" + "20\0"));
      }
    });
    await cluster.delete("Pod", "forks");
    expect(most).toBeGreaterThan(100);
    expect(most).toBeLessThan(1_200);
    expectCalm(times);
  });

  test.skipIf(!hasCgroups)("a container that uses more memory than its limit is ended with OOMKilled", async () => {
    const limits = "resources: {limits: {memory: 64Mi}}";
    await cluster.apply(manifest("hog", "/bin/busybox dd if=/dev/zero of=/dev/null bs=200M count=1", limits));
    let pod: PodView | undefined;
    const times = await measured(async () => {
      pod = await cluster.pod("hog", ended, 30);
    });
    expect(pod?.status.containerStatuses[0]?.state.terminated).toMatchObject({ exitCode: 137, reason: "OOMKilled" });
    expectCalm(times);
  });

  test("a flood of log lines fills neither the disk nor the agent's time", async () => {
    await cluster.apply(manifest("flood", "/bin/busybox yes flood-of-lines-that-nobody-reads"));
    await cluster.pod("flood", ({ status }) => status.containerStatuses[0]?.state.running !== undefined);
    const times = await measured(() => delay(5_000));
    const { metadata } = (await cluster.get<PodView>("Pod", "flood")) ?? { metadata: { uid: "" } };
    expect(logBytes(metadata.uid ?? "")).toBeLessThan(60 * 1024 * 1024);
    expect(await cluster.logs("flood", { tailLines: "2" })).toContain("flood-of-lines");
    await cluster.delete("Pod", "flood");
    expectCalm(times);
  });

  test("a pod whose emptyDir outgrows its limit is evicted", async () => {
    const mount = "volumeMounts: [{name: big, mountPath: /big}]";
    const volumes = "volumes: [{name: big, emptyDir: {sizeLimit: 10Mi}}]";
    const script = "/bin/busybox dd if=/dev/zero of=/big/file bs=1M count=40; sleep 1000";
    await cluster.apply(manifest("fills", script, mount, volumes));
    let pod: PodView | undefined;
    const times = await measured(async () => {
      pod = await cluster.pod("fills", ({ status }) => status.phase === "Failed", 40);
    });
    expect(pod?.status).toMatchObject({
      reason: "Evicted",
      message: 'Usage of EmptyDir volume "big" exceeds the limit "10Mi". ',
    });
    expect(await cluster.events("fills")).toContain(
      'Evicted: Usage of EmptyDir volume "big" exceeds the limit "10Mi". ',
    );
    expectCalm(times);
  });

  test("a container that outgrows its ephemeral-storage limit is evicted", async () => {
    const mount = "volumeMounts: [{name: big, mountPath: /big}]\n      resources: {limits: {ephemeral-storage: 10Mi}}";
    const script = "/bin/busybox dd if=/dev/zero of=/big/file bs=1M count=40; sleep 1000";
    await cluster.apply(manifest("swells", script, mount, "volumes: [{name: big, emptyDir: {}}]"));
    const pod = await cluster.pod("swells", ({ status }) => status.phase === "Failed", 40);
    expect(pod.status).toMatchObject({
      reason: "Evicted",
      message: "Pod ephemeral local storage usage exceeds the total limit of containers 10Mi. ",
    });
  });

  test("a container that outgrows its ephemeral-storage limit by its termination message is evicted", async () => {
    const limits = "resources: {limits: {ephemeral-storage: 10Mi}}";
    const script = "/bin/busybox dd if=/dev/zero of=/dev/termination-log bs=1M count=40; sleep 1000";
    await cluster.apply(manifest("last-words", script, limits));
    const pod = await cluster.pod("last-words", ({ status }) => status.phase === "Failed", 40);
    expect(pod.status).toMatchObject({ reason: "Evicted" });
  });

  test("a pod whose files come and go while they are counted is evicted all the same", async () => {
    const mount = "volumeMounts: [{name: big, mountPath: /big}]";
    const volumes = "volumes: [{name: big, emptyDir: {sizeLimit: 10Mi}}]";
    const comeAndGo =
      'perl -e "mkdir q(/big/d); for (\\$j = 0; ; \\$j++) { open F, q(>/big/d/) . \\$j; close F; unlink q(/big/d/) . (\\$j - 3000); select undef, undef, undef, 0.00005 }"';
    const script = `(sleep 3; /bin/busybox dd if=/dev/zero of=/big/file bs=1M count=40) & ${comeAndGo}`;
    await cluster.apply(manifest("restless", script, mount, volumes).replace(toolsImage, perlImage));
    const pod = await cluster.pod("restless", ({ status }) => status.phase === "Failed", 40);
    expect(pod.status).toMatchObject({ reason: "Evicted" });
  });

  test("an emptyDir in memory is as large as it says", async () => {
    const mount = "volumeMounts: [{name: mem, mountPath: /mem}]";
    const volumes = "volumes: [{name: mem, emptyDir: {medium: Memory, sizeLimit: 8Mi}}]";
    const script = "/bin/busybox dd if=/dev/zero of=/mem/file bs=1M count=40";
    await cluster.apply(manifest("memory", script, mount, volumes));
    await cluster.pod("memory", ended, 30);
    expect(await cluster.logs("memory")).toContain("No space left on device");
  });

  test("what a container writes into its root and into /tmp is bounded", async () => {
    const fill = (place: string): string => `/bin/busybox dd if=/dev/zero of=${place}/file bs=1M count=600`;
    await cluster.apply(manifest("root", `${fill("/var")}; ${fill("/tmp")}; ${fill("/var/tmp")}; echo end`));
    const times = await measured(async () => void (await cluster.pod("root", ended, 60)));
    expect((await cluster.logs("root")).match(/No space left on device/g)).toHaveLength(3);
    expectCalm(times);
  });

  test("the node is ready after all that, and says what pods may have", async () => {
    const node = await cluster.client.get(Node, { name: "node-1" });
    expect(node.status?.conditions?.find(({ type }) => type === "Ready")?.status).toBe("True");
    const allocatable = (resource: string): number => Number.parseInt(node.status?.allocatable?.[resource] ?? "0", 10);
    expect(allocatable("memory")).toBeLessThan(Number.parseInt(node.status?.capacity?.["memory"] ?? "0", 10));
    await cluster.client.get(Pod, { namespace: "default", name: "bystander" });
    expect((await cluster.pod("bystander", isReady)).status.containerStatuses[0]?.restartCount).toBe(0);
  });
});

/** Processes of this machine with this command line. */
function processesOf(commandLine: string): number {
  const text = execFileSync("sh", ["-c", "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '_' || true"], {
    maxBuffer: 64 * 1024 * 1024,
  }).toString();
  return text.split(commandLine.replaceAll("\0", "_")).length - 1;
}

/** All that the pod's containers have written, on whatever node of this machine. */
function logBytes(podUid: string): number {
  const found = execFileSync("sh", ["-c", `ls -d /tmp/*/nodes/*/pods/${podUid}/logs/main 2>/dev/null || true`]);
  const folder = found.toString().trim();
  expect(folder).not.toBe("");
  return readdirSync(folder).reduce((bytes, name) => bytes + statSync(`${folder}/${name}`).size, 0);
}
