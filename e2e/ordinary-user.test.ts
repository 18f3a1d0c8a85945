/** A cluster of a user of this machine who has no rights but its own. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster, until } from "./node/test-cluster.ts";
import { toolsImage } from "./node/tools-image.ts";
import { Account, missingForAccounts } from "./ordinary-user/account.ts";

const reason = missingForPods() || missingForAccounts();
const run = test.skipIf(reason !== "");
const suffix = reason === "" ? "" : ` (skipped: ${reason})`;
const program = new URL("./ordinary-user/start.ts", import.meta.url).pathname;
const shallow = 60_000;

let account: Account;
let up: ChildProcess;
let cluster: TestCluster;
let said = "";
const parts = new AsyncDisposableStack();

beforeAll(async () => {
  if (reason !== "") return;
  account = parts.use(new Account());
  const kubeconfig = join(account.home, "kubeconfig");
  up = account.node(program, join(account.home, "data"), kubeconfig);
  for (const stream of [up.stdout, up.stderr]) stream?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await until(`the cluster serves`, 60, async () => said.includes("Serving\n") || undefined).catch((error: unknown) => {
    throw new Error(`the cluster says ${said}`, { cause: error });
  });
  cluster = parts.use(TestCluster.connect(readFileSync(kubeconfig, "utf8")));
  await cluster.apply(manifests);
}, 120_000);

afterAll(() => parts.disposeAsync());

const container = (name: string, more = ""): string => `
  - name: ${name}
    image: ${toolsImage}
    command: [sh, -c, "trap 'exit 0' TERM; echo hello from $(id -u); while :; do sleep 1; done"]
    volumeMounts: [{ name: s, mountPath: /s }, { name: scratch, mountPath: /scratch }, { name: scratch, mountPath: /part, subPath: part }]
    readinessProbe: { exec: { command: [cat, /s/key] }, periodSeconds: 1 }${more}`;

const pod = (name: string, more: string, containers: string): string => `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 2${more}
  volumes: [{ name: s, secret: { secretName: canary } }, { name: scratch, emptyDir: {} }]
  containers:${containers}
`;

const asUser = "\n    securityContext: { runAsUser: 4000 }";
const manifests = [
  `
apiVersion: v1
kind: Secret
metadata: { name: canary }
stringData: { key: of a secret }
`,
  pod("root", "", container("main")),
  pod("user", "\n  securityContext: { runAsUser: 1000, runAsGroup: 7, fsGroup: 7 }", container("main")),
  pod("mixed", "", container("main") + container("other", asUser)),
].join("---");

run(
  `a pod of an ordinary user's cluster runs, as user 0 and as another one${suffix}`,
  async () => {
    for (const [name, user, group] of [
      ["root", 0, 0],
      ["user", 1000, 7],
    ] as const) {
      await cluster.pod(name, isReady, 90);
      expect(await cluster.logs(name)).toBe(`hello from ${user}\n`);
      const command = "id -u; id -g; cat /s/key; echo; echo kept > /part/file; cat /scratch/part/file";
      expect(await cluster.exec(name, ["sh", "-c", command])).toEqual({
        exitCode: 0,
        stdout: `${user}\n${group}\nof a secret\nkept\n`,
        stderr: "",
      });
    }
  },
  2 * shallow,
);

run(
  "its containers have the same confinement as those of root",
  async () => {
    await cluster.pod("root", isReady, 90);
    const { stdout } = await cluster.exec("root", ["sh", "-c", "cat /proc/self/status; ls /sys; ls /proc | head -1"]);
    expect(stdout).toMatch(/^Seccomp:\t2$/m);
    expect(stdout).toMatch(/^CapBnd:\t00000000a80425fb$/m);
    const write = await cluster.exec("root", ["sh", "-c", "echo x > /proc/sys/kernel/hostname"]);
    expect(write.exitCode).not.toBe(0);
    const home = await cluster.exec("root", ["ls", account.home]);
    expect(home.exitCode).not.toBe(0);
  },
  shallow,
);

run(
  "a second user in one pod is refused with a sentence that says what to do",
  async () => {
    const refused = await cluster.pod(
      "mixed",
      ({ status }) =>
        status.containerStatuses.some(({ state }) => state.waiting?.reason === "CreateContainerConfigError"),
      90,
    );
    const { message } = refused.status.containerStatuses.find(({ name }) => name === "other")?.state.waiting ?? {};
    expect(message).toBe(
      'Cannot run container as user 4000: setpoint runs as an ordinary user, and all containers of this pod run as user 0; use one runAsUser for the pod, or run "setpoint up" as root',
    );
  },
  2 * shallow,
);

run("`up` says what an ordinary user goes without", () => {
  expect(said).toMatch(/CPU limits are not enforced/);
  expect(said).toMatch(/Pods share this host's network/);
});

run(
  "^C ends everything that the user started",
  async () => {
    up.kill("SIGINT");
    await once(up, "close");
    expect(up.exitCode).toBe(0);
    await until("no process is left", 10, async () => account.processes().length === 0 || undefined);
  },
  shallow,
);
