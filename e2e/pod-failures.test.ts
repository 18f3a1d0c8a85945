/** Why real pods of this node fail, as the layer explains it to an operator. */
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EventsV1Event as Event, type Pod } from "setpoint/kinds";
import { type PodProblem, podProblem } from "setpoint/pods";
import { missingForPods, TestCluster, until } from "./node/test-cluster.ts";
import { toolsImage as image } from "./node/tools-image.ts";

const reason = missingForPods();
if (reason !== "") process.stderr.write(`pod-failures: skipped, ${reason}\n`);

type Container = Partial<Pod["spec"]["containers"][number]>;
type Volumes = Pod["spec"]["volumes"];

const work = { name: "work", mountPath: "/work" };
const unprivileged = { securityContext: { runAsUser: 65_532, runAsGroup: 65_532 } };
const shell = (script: string, more: Container = {}): Container => ({ command: ["sh", "-c", script], ...more });
const inMemory: Volumes = [{ name: "work", emptyDir: { medium: "Memory", sizeLimit: "64Ki" } }];
const folder: Volumes = [{ name: "work", emptyDir: {} }];
const keys = (more: object = {}): Volumes => [{ name: "work", secret: { secretName: "keys", ...more } }];
/** What root does to the volume before the container starts. */
const before: Readonly<Record<string, string>> = {
  "volume-rights": "chmod 755 /work",
  // Nothing but the head of a program for another processor.
  "wrong-processor":
    "printf '\\177ELF\\002\\001\\001' > /work/arm; head -c 200 /dev/zero >> /work/arm; chmod 755 /work/arm",
};

/** What a pod of each cause is like, and how it is explained. */
const causes: readonly (readonly [
  name: string,
  container: Container,
  volumes: Volumes,
  reason: string,
  words: RegExp,
])[] = [
  [
    "volume-rights",
    shell("echo x > /work/x", { ...unprivileged, volumeMounts: [work] }),
    folder,
    "PermissionDenied",
    /user 65532 may not write to volume "work" at \/work/,
  ],
  [
    "full-disk",
    shell("dd if=/dev/zero of=/work/x bs=1k count=1000", { volumeMounts: [work] }),
    inMemory,
    "DiskFull",
    /No space left on device.*volume "work" at \/work/,
  ],
  [
    "missing-key",
    { env: [{ name: "A", valueFrom: { secretKeyRef: { name: "keys", key: "b" } } }] },
    [],
    "CreateContainerConfigError",
    /key b in Secret default\/keys/,
  ],
  ["missing-key-file", { volumeMounts: [work] }, keys({ items: [{ key: "b", path: "b" }] }), "FailedMount", /key: b/],
  [
    "missing-secret",
    { volumeMounts: [work] },
    [{ name: "work", secret: { secretName: "none" } }],
    "FailedMount",
    /secret "none" not found/i,
  ],
  [
    "unreadable-secret",
    shell("cat /work/a", { ...unprivileged, volumeMounts: [work] }),
    keys({ defaultMode: 0o400 }),
    "PermissionDenied",
    /user 65532 may not read volume "work" \(Secret "keys"\)/,
  ],
  ["wrong-image", { image: "nowhere.invalid/none:1" }, [], "ImageUnavailable", /"nowhere.invalid\/none:1"/],
  [
    "no-memory",
    shell("a=x; while :; do a=$a$a; done", { resources: { limits: { memory: "32Mi" } } }),
    [],
    "OutOfMemory",
    /exit code 137 \(OOMKilled, SIGKILL\); it needs more than its memory limit of 32Mi/,
  ],
  ["wrong-option", { command: ["wget", "--no-such-option"] }, [], "ContainerFailed", /exit code 1 .*no-such-option/],
  [
    "port-taken",
    shell("nc -l -p 80 & sleep 1; nc -l -p 80"),
    [],
    "PortTaken",
    /Address already in use; another program in its pod listens on port/,
  ],
  [
    "wrong-processor",
    { command: ["/work/arm"], volumeMounts: [work] },
    folder,
    "WrongArchitecture",
    /exec format error/i,
  ],
  ["killed", shell("sleep 4321"), [], "ContainerKilled", /exit code 137 \(Error, SIGKILL\); something outside/],
];

describe.skipIf(reason !== "")("a pod that fails", () => {
  const parts = new AsyncDisposableStack();
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = parts.use(await TestCluster.start(1));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "keys" }, stringData: { a: "1" } };
    const pods = causes.map(([name, container, volumes]) => podOf(name, container, volumes));
    await cluster.apply([secret, ...pods].map((object) => JSON.stringify(object)).join("\n---\n"));
  }, 60_000);
  afterAll(() => parts.disposeAsync());

  /** By its status, and where that says nothing, by its Events. */
  async function problemOf(name: string): Promise<PodProblem | undefined> {
    const pod = await cluster.get<Pod>("Pod", name);
    if (pod === undefined) return undefined;
    const { items } = await cluster.client.list(Event, {
      namespace: "default",
      fieldSelector: `regarding.uid=${pod.metadata.uid}`,
    });
    return podProblem(
      pod,
      items.map(({ reason: why = "", note = "" }) => ({ reason: why, message: note })),
    );
  }

  test.each(causes)("%s: its cause is named", async (name, _container, _volumes, expected, words) => {
    if (name === "killed") process.kill(await processOf("4321"), "SIGKILL");
    const problem = await until(`the problem of ${name}`, 30, () => problemOf(name));
    expect(problem).toMatchObject({ reason: expected, message: expect.stringMatching(words) as string });
  });
});

function podOf(name: string, container: Container, volumes: Volumes): object {
  const main = { name: "main", image, terminationMessagePolicy: "FallbackToLogsOnError", ...container };
  const script = before[name];
  const init = { name: "prepare", image, command: ["sh", "-c", script], volumeMounts: [work] };
  const initContainers = script === undefined ? [] : [init];
  const spec = {
    restartPolicy: "Never",
    terminationGracePeriodSeconds: 1,
    volumes,
    initContainers,
    containers: [main],
  };
  return { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec };
}

/** The process on this machine that sleeps for so long. */
function processOf(seconds: string): Promise<number> {
  const isIt = (pid: string): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === `sleep\0${seconds}\0`;
    } catch {
      return false; // It ended while we looked.
    }
  };
  return until("the process", 30, async () => {
    const found = readdirSync("/proc").find((entry) => /^\d+$/.test(entry) && isIt(entry));
    return found === undefined ? undefined : Number(found);
  });
}
