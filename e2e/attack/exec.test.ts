/** A pod tries to have programs of the host run for it by `kubectl exec` and probes. */
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execInPod } from "@setpoint/client/node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster, until } from "../node/test-cluster.ts";
import { toolsImage } from "../node/tools-image.ts";

const reason = missingForPods();
let cluster: TestCluster;
let parts: AsyncDisposableStack;
/** On the host; the pod names it in its variables. */
let trap: string;

beforeAll(async () => {
  if (reason !== "") return;
  await using stack = new AsyncDisposableStack();
  trap = mkdtempSync(join(tmpdir(), "setpoint-trap-"));
  stack.defer(() => rmSync(trap, { recursive: true }));
  chmodSync(trap, 0o777);
  for (const name of ["nsenter", "crun", "conmon", "sh", "bwrap", "unshare", "mount"]) {
    writeFileSync(join(trap, name), `#!/bin/sh\necho ${name} >> ${trap}/ran-on-the-host\nexit 1\n`, { mode: 0o755 });
  }
  cluster = stack.use(await TestCluster.start(1));
  await cluster.apply(podYaml());
  await cluster.pod("trapper", ({ status }) => status.containerStatuses[0]?.state.running !== undefined, 120);
  parts = stack.move();
});

afterAll(() => parts?.disposeAsync());

function podYaml(): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: trapper }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ${toolsImage}
    command: [/usr/bin/sh, -c, "trap 'exit 0' TERM; while :; do /usr/bin/sleep 1; done"]
    env:
    - { name: PATH, value: "${trap}:/usr/bin:/bin" }
    - { name: LD_DEBUG, value: files }
    - { name: LD_DEBUG_OUTPUT, value: "${trap}/loader" }
    - { name: BASH_ENV, value: "${trap}/sh" }
    - { name: ENV, value: "${trap}/sh" }
    readinessProbe: { exec: { command: [/usr/bin/true] }, periodSeconds: 1 }
    lifecycle: { postStart: { exec: { command: [/usr/bin/true] } } }
    securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] } }
`;
}

test.skipIf(reason)(`no program of the host runs with a pod's PATH or loader variables ${reason}`, async () => {
  await cluster.exec("trapper", ["/usr/bin/true"]).catch(() => {});
  await until("a probe", 10, async () => (await cluster.pod("trapper", () => true)).status.containerStatuses[0]);
  const left = readdirSync(trap).filter((name) => name.startsWith("loader") || name === "ran-on-the-host");
  expect(left).toEqual([]);
  await cluster.pod("trapper", isReady, 20);
});

test.skipIf(reason)(
  `a command has the user, rights and variables of the container, and no more ${reason}`,
  async () => {
    const own = await cluster.exec("trapper", ["/usr/bin/cat", "/proc/self/status"]);
    const main = await cluster.exec("trapper", ["/usr/bin/cat", "/proc/1/status"]);
    for (const field of ["Uid", "Gid", "CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp"])
      expect(fieldOf(own.stdout, field), field).toBe(fieldOf(main.stdout, field));
    expect(fieldOf(own.stdout, "CapBnd")).toMatch(/^0+$/);
    expect(fieldOf(own.stdout, "NoNewPrivs")).toBe("1");
    expect(fieldOf(own.stdout, "Seccomp")).toBe("2");
    const env = await cluster.exec("trapper", ["/usr/bin/env"]);
    expect(env.stdout).toContain(`PATH=${trap}:`);
    expect(env.stdout).not.toMatch(/^(HOME=\/root|SUDO|VITEST|npm_)/m);
  },
);

test.skipIf(reason)(`a command cannot reach the processes, files or namespaces of the node ${reason}`, async () => {
  const script =
    "for n in mnt pid net user ipc uts; do busybox readlink /proc/self/ns/$n; done; ls -l /proc/self/fd | busybox wc -l";
  const own = await cluster.exec("trapper", ["/usr/bin/sh", "-c", `PATH=/usr/bin:/bin; ${script}`]);
  const main = await cluster.exec("trapper", [
    "/usr/bin/sh",
    "-c",
    "PATH=/usr/bin:/bin; for n in mnt pid net user ipc uts; do busybox readlink /proc/1/ns/$n; done",
  ]);
  expect(own.stdout.split("\n").slice(0, 6)).toEqual(main.stdout.split("\n").slice(0, 6));
});

test.skipIf(reason)(`a command that its client gives up leaves no process ${reason}`, async () => {
  const mark = `98765.${process.pid}`;
  const alive = (): number =>
    readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).startsWith(`/usr/bin/sleep\0${mark}`))
      .length;
  const script = `/usr/bin/sleep ${mark} & (/usr/bin/sleep ${mark}; true) & /usr/bin/sleep ${mark}`;
  const giveUp = new AbortController();
  const { connection } = cluster;
  const command = ["/usr/bin/sh", "-c", script];
  const hanging = execInPod({ connection, namespace: "default", pod: "trapper", command, signal: giveUp.signal });
  const ended = hanging.then(
    () => true,
    () => true,
  );
  await until("the command runs", 20, async () => (alive() === 3 ? true : undefined));
  giveUp.abort(new Error("given up"));
  await ended;
  await until("nothing is left", 20, async () => (alive() === 0 ? true : undefined));
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

function fieldOf(status: string, name: string): string | undefined {
  return new RegExp(`^${name}:\\s+(.*)$`, "m").exec(status)?.[1];
}

test.skipIf(reason)(`variables of a command's client are not those of the node ${reason}`, () => {
  expect(existsSync(join(trap, "ran-on-the-host"))).toBe(false);
});
