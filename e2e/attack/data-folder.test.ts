/** What an ordinary user of the host and a reader of the disk find of pods and their Secrets. */
import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Secret } from "@setpoint/api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster } from "../node/test-cluster.ts";
import { toolsImage } from "../node/tools-image.ts";
import { Target } from "./target.ts";

const reason = missingForPods();
const inVariable = "canary-of-a-variable-4711";
const inVolume = "canary-of-a-volume-0815";
const nobody = 65_534;
let parts: AsyncDisposableStack;
let cluster: TestCluster;
let directory: string;

beforeAll(async () => {
  if (reason !== "") return;
  await using stack = new AsyncDisposableStack();
  const parent = mkdtempSync(join(tmpdir(), "setpoint-attack-"));
  stack.defer(() => rmSync(parent, { recursive: true, force: true }));
  chmodSync(parent, 0o755);
  directory = join(parent, "data");
  // As an older version left it.
  for (const folder of [directory, join(directory, "nodes"), join(directory, "nodes/node-1")]) mkdirSync(folder);
  for (const folder of ["pods", "volumes"]) mkdirSync(join(directory, "nodes/node-1", folder));
  execFileSync("chmod", ["-R", "0777", directory]);
  cluster = stack.use(await TestCluster.start(1, directory));
  await cluster.apply(manifests);
  await cluster.pod("keeper", isReady, 120);
  parts = stack.move();
});

afterAll(() => parts?.disposeAsync());

const manifests = `
apiVersion: v1
kind: Secret
metadata: { name: canary }
data: { variable: ${Buffer.from(inVariable).toString("base64")}, volume: ${Buffer.from(inVolume).toString("base64")} }
---
apiVersion: v1
kind: Pod
metadata: { name: keeper }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: ${toolsImage}
    command: [sh, -c, "trap 'exit 0' TERM; while :; do sleep 1; done"]
    env: [{ name: SECRET, valueFrom: { secretKeyRef: { name: canary, key: variable } } }]
    readinessProbe: { exec: { command: [sh, -c, 'test $\{#SECRET} = ${inVariable.length} && test $(busybox wc -c < /s/volume) = ${inVolume.length}'] }, periodSeconds: 1 }
    volumeMounts: [{ name: s, mountPath: /s }, { name: scratch, mountPath: /scratch }]
  volumes: [{ name: s, secret: { secretName: canary } }, { name: scratch, emptyDir: {} }]
`;

function asNobody(command: string, ...args: readonly string[]): string {
  return spawnSync(command, args, { uid: nobody, gid: nobody, encoding: "utf8", cwd: "/" }).stdout;
}

function processes(): readonly string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

test.skipIf(reason)(`another user of the host cannot look into the data folder ${reason}`, () => {
  expect(statSync(directory).mode & 0o777).toBe(0o700);
  expect(asNobody("find", directory, "-mindepth", "1").trim()).toBe("");
  expect(asNobody("sh", "-c", `cd ${directory}/nodes/node-1 && ls`).trim()).toBe("");
});

test.skipIf(reason)(`what an older version left open is closed, at each level ${reason}`, () => {
  for (const folder of ["", "nodes/node-1", "nodes/node-1/pods", "nodes/node-1/volumes"])
    expect(statSync(join(directory, folder)).mode & 0o077, folder).toBe(0);
});

test.skipIf(reason)(`no file of the server or the node is open to others, while a pod runs ${reason}`, () => {
  expect(openFiles(directory)).toEqual([]);
});

test.skipIf(reason)(`another user finds nothing of a pod in memory or in the node's run folders ${reason}`, () => {
  const found = asNobody("sh", "-c", "find /dev/shm/setpoint-* /run/setpoint* -mindepth 2 2>/dev/null");
  expect(found.trim()).toBe("");
});

test.skipIf(reason)(`a Secret of a pod is on no disk of the node ${reason}`, () => {
  for (const canary of [inVariable, inVolume]) {
    const found = spawnSync("grep", ["-rlsF", canary, join(directory, "nodes")], { encoding: "utf8" }).stdout;
    expect(found).toBe("");
  }
});

test.skipIf(reason)(`a Secret of a pod is in no command line ${reason}`, () => {
  const lines = processes().map((pid) => readText(`/proc/${pid}/cmdline`));
  expect(lines.filter((line) => line.includes(inVariable) || line.includes(inVolume))).toEqual([]);
});

test.skipIf(reason)(`a Secret of a pod is in the environment of that container alone ${reason}`, () => {
  const holders = processes().filter((pid) => readText(`/proc/${pid}/environ`).includes(inVariable));
  for (const pid of holders)
    expect(Number(/^Uid:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1])).toBeGreaterThan(100_000);
});

test.skipIf(reason)(`no process of a pod holds a file or a socket of the node ${reason}`, () => {
  const ofPods = processes().filter(
    (pid) => Number(/^Uid:\s+(\d+)/m.exec(readText(`/proc/${pid}/status`))?.[1]) > 0x7000_0000,
  );
  expect(ofPods).not.toEqual([]);
  for (const pid of ofPods) for (const target of descriptors(pid)) expect(target).not.toContain(directory);
});

function descriptors(pid: string): readonly string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
  } catch {
    return [];
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

test("every file of the server is its user's alone by itself, whatever the umask and the rights of folders", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-umask-"));
  try {
    // Wider rights from outside, as for a data folder that a person copied.
    const umask = ["sh", "-c", 'umask 000; exec "$@"', "sh"];
    await using target = await Target.start({ directory: folder, within: umask });
    await target.admin.create(Secret, Secret({ name: "canary", namespace: "default", stringData: { a: "b" } }));
    expect(openFiles(folder)).toEqual([]);
    // What pods read is in folders that only root opens.
    expect(statSync(join(folder, "nodes")).mode & 0o077).toBe(0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Files that other users could read or write, but for those that a container sees. */
function openFiles(folder: string): readonly string[] {
  const found = execFileSync("find", [folder, "-type", "f", "-perm", "/077", "-not", "-path", "*/pods/*"]);
  return String(found).split("\n").filter(Boolean);
}
