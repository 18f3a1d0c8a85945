/** A pod tries to reach, read or change the host that it runs on. Every write puts back what was there. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster } from "../node/test-cluster.ts";
import { toolsImage } from "../node/tools-image.ts";

const reason = missingForPods();
let cluster: TestCluster;
let parts: AsyncDisposableStack;
let directory: string;

const restricted = `{ runAsUser: 1000, runAsNonRoot: true, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false,
      capabilities: { drop: [ALL] }, seccompProfile: { type: RuntimeDefault } }`;

beforeAll(async () => {
  if (reason !== "") return;
  await using stack = new AsyncDisposableStack();
  directory = mkdtempSync(join(tmpdir(), "setpoint-attack-"));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  cluster = stack.use(await TestCluster.start(1, directory));
  await cluster.apply([podYaml("rooted", "{}"), podYaml("restricted", restricted)].join("---"));
  for (const name of ["rooted", "restricted"]) await cluster.pod(name, isReady, 120);
  parts = stack.move();
});

afterAll(() => parts?.disposeAsync());

function podYaml(name: string, securityContext: string): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ${toolsImage}
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
    securityContext: ${securityContext}
    volumeMounts: [{ name: scratch, mountPath: /scratch }]
  volumes: [{ name: scratch, emptyDir: {} }]
`;
}

const pods = ["rooted", "restricted"];

/** Runs a script in the pod. Its busybox has more tools than the image links. */
async function run(pod: string, script: string): Promise<string> {
  const { stdout, stderr } = await cluster.exec(pod, ["sh", "-c", script]);
  return `${stdout}${stderr}`.trim();
}

const kernelSettings = [
  "/proc/sys/kernel/core_pattern",
  "/proc/sys/kernel/modprobe",
  "/proc/sys/kernel/randomize_va_space",
  "/proc/sys/vm/overcommit_memory",
  "/proc/sys/fs/file-max",
];

test.skipIf(reason).for(pods)(`%s cannot write a setting of the kernel ${reason}`, async (pod) => {
  for (const file of kernelSettings) {
    const script = `if test -e ${file}; then v=$(cat ${file}); echo "$v" > ${file} && echo WRITTEN ${file}; fi; true`;
    expect(await run(pod, `{ ${script}; } 2>/dev/null`)).toBe("");
  }
});

test.skipIf(reason).for(pods)(`%s cannot open what drives the kernel for writing ${reason}`, async (pod) => {
  const files = ["/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/sys/fs/binfmt_misc/register"];
  const script = files.map((file) => `(: >> ${file}) && echo OPENED ${file}`);
  expect(
    await run(pod, `{ ${script.join("; ")}; (: > /dev/kmsg) && test -c /dev/kmsg && echo OPENED kmsg; } 2>/dev/null`),
  ).toBe("");
});

test.skipIf(reason).for(pods)(`%s cannot read the kernel's memory, keys or log ${reason}`, async (pod) => {
  const read = ["/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/kmsg"].map(
    (file) => `b=$(busybox head -c 16 ${file} | busybox wc -c); test "$b" -gt 0 && echo READ ${file}`,
  );
  expect(await run(pod, `{ ${read.join("; ")}; busybox dmesg | busybox head -n 1; } 2>/dev/null`)).toBe("");
});

test.skipIf(reason).for(pods)(`%s has ids of the host that belong to nobody else ${reason}`, async (pod) => {
  const [, host, size] = (await run(pod, "cat /proc/self/uid_map")).trim().split(/\s+/).map(Number);
  expect(host).toBeGreaterThan(100_000);
  expect(size).toBeLessThanOrEqual(65_536);
});

test.skipIf(reason).for(pods)(`%s owns no device of the host ${reason}`, async (pod) => {
  const [, first = 0, size = 0] = (await run(pod, "cat /proc/self/uid_map")).trim().split(/\s+/).map(Number);
  for (const device of ["null", "zero", "full", "random", "urandom", "tty"]) {
    const { uid, gid } = statSync(`/dev/${device}`);
    for (const id of [uid, gid]) expect(id >= first && id < first + size, device).toBe(false);
  }
});

test.skipIf(reason)(`two pods have no id in common ${reason}`, async () => {
  const maps = await Promise.all(pods.map((pod) => run(pod, "cat /proc/self/uid_map")));
  expect(new Set(maps).size).toBe(pods.length);
});

test.skipIf(reason).for(pods)(`%s sees no process of the host ${reason}`, async (pod) => {
  const seen = await run(pod, "for p in /proc/[0-9]*; do busybox tr '\\0' ' ' < $p/cmdline; echo; done");
  expect(seen).not.toMatch(/vitest|systemd|node /);
  expect(await run(pod, "cat /proc/1/root/etc/machine-id /proc/2/root/etc/passwd 2>/dev/null")).not.toContain("root:");
});

test.skipIf(reason)(`a restricted pod holds no capability and can gain none ${reason}`, async () => {
  const status = await run("restricted", "cat /proc/self/status");
  expect(status).toMatch(/^CapBnd:\s+0+$/m);
  expect(status).toMatch(/^CapEff:\s+0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Seccomp:\s+2$/m);
});

test.skipIf(reason)(`the main process of a restricted pod is as restricted ${reason}`, async () => {
  const status = await run("restricted", "cat /proc/1/status");
  expect(status).toMatch(/^CapBnd:\s+0+$/m);
  expect(status).toMatch(/^NoNewPrivs:\s+1$/m);
  expect(status).toMatch(/^Seccomp:\s+2$/m);
});

test.skipIf(reason).for(pods)(`%s cannot make namespaces, mounts or devices ${reason}`, async (pod) => {
  const attempts = [
    "busybox unshare -U true && echo USER NAMESPACE",
    "busybox unshare -m true && echo MOUNT NAMESPACE",
    "busybox unshare -n true && echo NETWORK NAMESPACE",
    "busybox mount -t tmpfs none /scratch && echo MOUNTED",
    "busybox mount -t cgroup -o memory none /scratch && echo CGROUP",
    "busybox mount -o remount,rw /proc/sys && echo REMOUNTED",
    "busybox mount -o bind /scratch /proc/sys && echo HIDDEN",
    "busybox umount /proc/sys && echo UNMOUNTED",
    "busybox umount /proc/kcore && echo UNMASKED",
    "busybox mknod /scratch/disk b 8 0 && busybox head -c 1 /scratch/disk && echo DISK",
    "busybox mknod /scratch/mem c 1 1 && busybox head -c 1 /scratch/mem && echo MEMORY",
    "busybox pivot_root /scratch /scratch && echo PIVOTED",
    "busybox hostname other && test $(busybox hostname) = other && echo HOSTNAME",
    "busybox insmod /scratch/x.ko && echo MODULE",
  ];
  expect(await run(pod, `{ ${attempts.join("; ")}; } 2>/dev/null`)).toBe("");
});

test.skipIf(reason).for(pods)(
  `%s finds no control group, no kernel object and no device of the host ${reason}`,
  async (pod) => {
    const found = await run(
      pod,
      "for f in /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/release_agent /sys/kernel/uevent_helper; do (: >> $f) && echo $f; done 2>/dev/null; busybox find /dev -type b 2>/dev/null; test -e /dev/mem && echo mem",
    );
    expect(found).toBe("");
  },
);

test.skipIf(reason).for(pods)(`%s inherits no open file of the node ${reason}`, async (pod) => {
  const open = await run(pod, "for f in /proc/1/fd/*; do echo $(busybox readlink $f); done 2>/dev/null");
  for (const target of open.split("\n").filter((line) => line !== ""))
    expect(target).toMatch(/^(\/dev\/null|pipe:\[\d+\]|\/dev\/pts\/\d+)$/);
  const own = await run(pod, "for f in /proc/self/fd/*; do echo ${f##*/}; done");
  expect(
    own
      .split("\n")
      .map(Number)
      .filter((fd) => fd > 3),
  ).toEqual([]);
});

test.skipIf(reason)(
  `a setuid program that a pod leaves in a volume gives nobody on the host anything ${reason}`,
  async () => {
    const script = "busybox cp /bin/busybox F; busybox chown 0:0 F; busybox chmod 6755 F".replaceAll(
      "F",
      "/scratch/left-behind",
    );
    await run("rooted", script);
    const path = execFileSync("find", [directory, "-name", "left-behind"]).toString().trim();
    expect(path).not.toBe("");
    const { uid, mode } = statSync(path);
    expect(mode & 0o6000).not.toBe(0);
    expect(uid).toBeGreaterThan(100_000);
  },
);
