/** The statuses and Events were recorded from a kubelet 1.36.3 with containerd and runc. */
import { readFileSync } from "node:fs";
import type { Pod } from "@setpoint/api";
import { expect, test } from "vitest";
import { isExplainedByEvents, type PodEvent, podProblem } from "./pod-problem.ts";

interface Recorded {
  readonly pod: Pod;
  readonly events: readonly PodEvent[];
}

const recorded = JSON.parse(readFileSync(new URL("failed-pods.recorded.json", import.meta.url), "utf8")) as Readonly<
  Record<string, Recorded>
>;

function problemOf(name: string): ReturnType<typeof podProblem> {
  const { pod, events } = recorded[name] as Recorded;
  return podProblem(pod, events);
}

test.each([
  [
    "volume-rights",
    "PermissionDenied",
    'exit code 1 (Error): discovery failed: cannot access data directory: mkdir /var/lib/etcd/member-data: permission denied; user 65532 may not write to volume "data" at /var/lib/etcd, most likely because its storage does not honour fsGroup; give its folder to that user (chown 65532:65532), or use a storage class whose volumes honour fsGroup',
  ],
  ["volume-rights-crash", "PermissionDenied", "honour fsGroup; restarted 3 times"],
  [
    "full-disk-etcd",
    "DiskFull",
    'no space left on device; panic: failed to create WAL; volume "data" at /var/lib/etcd is full, or the disk of its node',
  ],
  ["evicted", "Evicted", 'Usage of EmptyDir volume "data" exceeds the limit "1Mi".'],
  ["missing-key-env", "CreateContainerConfigError", "couldn't find key b in Secret default/keys; correct this"],
  ["missing-key-volume", "FailedMount", 'volume "data" : references non-existent secret key: b; correct this'],
  ["missing-secret-env", "CreateContainerConfigError", 'secret "none" not found'],
  ["missing-secret-volume", "FailedMount", 'volume "data" : secret "none" not found'],
  [
    "unreadable-secret-node",
    "PermissionDenied",
    'user 65532 may not read volume "data" (Secret "keys") at /var/lib/etcd; set fsGroup',
  ],
  [
    "wrong-image",
    "ImageUnavailable",
    'image "registry.invalid/none:1" of container "main" is not available (ImagePullBackOff): failed to pull',
  ],
  ["invalid-image-name", "ImageUnavailable", "invalid reference format"],
  ["image-never", "ImageUnavailable", "is not present with pull policy of Never"],
  ["oom", "OutOfMemory", "exit code 137 (OOMKilled, SIGKILL); it needs more than its memory limit of 96Mi"],
  ["oom-crash", "OutOfMemory", "raise the limit; restarted 3 times"],
  ["wrong-option", "ContainerFailed", "exit code 2 (Error): flag provided but not defined: -no-such-option"],
  ["port-taken", "PortTaken", "address already in use :::2379; another program in its pod listens on port 2379"],
  [
    "wrong-arch",
    "WrongArchitecture",
    'exec format error; its program is made for another processor than that of node "real-1"',
  ],
  ["killed", "ContainerKilled", "exit code 137 (Error, SIGKILL); something outside of the container ended it"],
  [
    "liveness",
    "ContainerKilled",
    'Liveness probe failed: Get "http://10.244.0.26:1234/": dial tcp 10.244.0.26:1234: connect: connection refused; restarted 4 times, the next time after 40s',
  ],
  [
    "no-command",
    "ContainerFailed",
    'exit code 128 (StartError): failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: "/no/such/program"',
  ],
  ["non-root", "CreateContainerConfigError", "container has runAsNonRoot and image will run as root"],
  ["init-fails", "ContainerFailed", 'container "prepare" ended with exit code 3 (Error): boom'],
  ["init-crash", "ContainerFailed", "boom; restarted 3 times"],
  ["deadline", "DeadlineExceeded", "active on the node longer than the specified deadline"],
  ["unschedulable", "Unschedulable", "no node takes the pod: 0/1 nodes are available: 1 node(s) didn't match"],
  ["no-claim", "Unschedulable", 'persistentvolumeclaim "none" not found'],
  ["missing-host-path", "FailedMount", "hostPath type check failed: /var/lib/zz-none is not a directory"],
])("%s is explained as %s", (name, reason, words) => {
  expect(problemOf(name)).toMatchObject({ reason, message: expect.stringContaining(words) as string });
  expect(problemOf(name)?.message.length).toBeLessThanOrEqual(800);
});

test.each(["missing-key-volume", "missing-secret-volume", "missing-host-path"])("only Events explain %s", (name) => {
  const { pod } = recorded[name] as Recorded;
  expect(podProblem(pod)).toBeUndefined();
  expect(isExplainedByEvents(pod)).toBe(true);
});

/** What `process-node` says while it cannot mount a volume. */
test("a node that says in the status why it waits is understood too", () => {
  const { pod } = recorded["missing-secret-volume"] as Recorded;
  const waiting = { reason: "ContainerCreating", message: 'secret "none" not found' };
  const containerStatuses = [{ name: "main", state: { waiting } }];
  const said = podProblem({ ...pod, status: { phase: "Pending", containerStatuses } } as unknown as Pod);
  expect(said).toMatchObject({ reason: "FailedMount", message: expect.stringContaining('secret "none"') as string });
});

function withStatus(status: object): Pod {
  return { ...(recorded["wrong-option"] as Recorded).pod, status } as unknown as Pod;
}

test.each([
  ["a pod without a status", {}],
  [
    "a pod that is being created",
    { phase: "Pending", containerStatuses: [{ name: "main", state: { waiting: { reason: "ContainerCreating" } } }] },
  ],
  ["a pod that runs", { phase: "Running", containerStatuses: [{ name: "main", state: { running: {} } }] }],
  [
    "a container that runs again",
    {
      phase: "Running",
      containerStatuses: [{ name: "main", state: { running: {} }, lastState: { terminated: { exitCode: 1 } } }],
    },
  ],
  [
    "a pod that has done its work",
    { phase: "Succeeded", containerStatuses: [{ name: "main", state: { terminated: { exitCode: 0 } } }] },
  ],
])("%s is no problem", (_, status) => {
  expect(podProblem(withStatus(status))).toBeUndefined();
});

test.each(["x", "a-", "(", "a.", "/a", '"msg":"', "password", "at ", "eyJ", "A1a="])(
  "output of %j alone is read fast",
  (part) => {
    const message = `error ${part.repeat(200_000)}`;
    const startedMs = performance.now();
    const problem = podProblem(
      withStatus({
        phase: "Failed",
        containerStatuses: [{ name: "main", state: { terminated: { exitCode: 1, message } } }],
      }),
    );
    expect(problem?.message.length).toBeLessThanOrEqual(800);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  },
);
