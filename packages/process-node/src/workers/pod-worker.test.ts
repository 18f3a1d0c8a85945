import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { logFile } from "../logs/container-log.ts";
import { main, PodWorld } from "./pod-world.fixture.ts";

const reasonOf = (world: PodWorld, name = "main"): string => world.container(name)?.state?.waiting?.reason ?? "";

test("a pod is Pending until its containers have started, then Running and Ready", async () => {
  const world = new PodWorld({ containers: [main, { ...main, name: "second" }] });
  expect(world.worker.status()).toMatchObject({ phase: "Pending" });
  await world.run(1);
  expect(world.status).toMatchObject({ phase: "Running", podIP: "127.64.0.2", hostIP: "127.64.0.1" });
  expect(world.condition("Ready")).toBe("True");
  expect(world.container("main")).toMatchObject({ ready: true, started: true, restartCount: 0 });
  expect(world.events).toContain(
    'main Pulled: Container image "img:1" already present on machine and can be accessed by the pod',
  );
});

test("a pod that another client has called unready is reported as ready again, once", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  const before = world.statuses.length;
  world.overwrite("Ready", "False");
  await world.run(60);
  expect(world.statuses.slice(before).map(({ phase }) => phase)).toEqual(["Running"]);
  expect(world.condition("Ready")).toBe("True");
});

test("a container that keeps ending starts again after 0, 10, 20, 40 … seconds, at most five minutes", async () => {
  const world = new PodWorld({ containers: [main] });
  world.onStart = () => void world.clock.defer(() => world.process("main").exit(1));
  await world.run(1_500);
  expect(world.startsOf("main")).toEqual([0, 0, 10, 30, 70, 150, 310, 610, 910, 1_210]);
  expect(world.container("main")).toMatchObject({ restartCount: 9, lastState: { terminated: { exitCode: 1 } } });
  expect(reasonOf(world)).toBe("CrashLoopBackOff");
  expect(world.container("main")?.state?.waiting?.message).toBe(
    "back-off 5m0s restarting failed container=main pod=web_shop(u1)",
  );
  expect(world.status.phase).toBe("Running");
  expect(world.condition("Ready")).toBe("False ContainersNotReady");
});

test("containers wait for their own restarts, not for each other's", async () => {
  const world = new PodWorld({ containers: [main, { ...main, name: "second" }] });
  await world.run(1);
  for (let i = 0; i < 2; i++) {
    world.process("second").exit(1);
    await world.run(10);
  }
  world.process("main").exit(1);
  await world.run(1);
  world.process("second").exit(1);
  world.process("main").exit(1);
  await world.run(60);
  expect(world.startsOf("main")).toEqual([0, 21, 32]);
  expect(world.startsOf("second")).toEqual([0, 1, 21, 42]);
});

test("a container that ran for ten minutes starts again at once", async () => {
  const world = new PodWorld({ containers: [main] });
  for (let i = 0; i < 3; i++) {
    await world.run(61 * 10);
    world.process("main").exit(1);
    await world.run(1);
    expect(world.startsOf("main").length).toBe(i + 2);
  }
});

test.each([
  ["Always", 0, 2, "Running"],
  ["Always", 1, 2, "Running"],
  ["OnFailure", 0, 1, "Succeeded"],
  ["OnFailure", 1, 2, "Running"],
  ["Never", 0, 1, "Succeeded"],
  ["Never", 1, 1, "Failed"],
] as const)("with restartPolicy %s an exit with code %d makes %d starts and a pod that is %s", async (...row) => {
  const [restartPolicy, exitCode, starts, phase] = row;
  const world = new PodWorld({ restartPolicy, containers: [main] });
  await world.run(1);
  world.process("main").exit(exitCode);
  await world.run(1);
  expect(world.starts.length).toBe(starts);
  expect(world.status.phase).toBe(phase);
  if (phase === "Succeeded") expect(world.condition("Ready")).toBe("False PodCompleted");
  if (phase === "Failed") expect(world.condition("Ready")).toBe("False PodFailed");
});

test("a new image restarts the container whatever the policy", async () => {
  const world = new PodWorld({ restartPolicy: "Never", containers: [main] });
  await world.run(1);
  world.change({ containers: [{ ...main, image: "img:2" }] });
  await world.run(1);
  expect(world.starts.map(({ signals }) => signals)).toEqual([["SIGTERM", "destroy"], []]);
  expect(world.status.phase).toBe("Running");
  expect(world.container("main")).toMatchObject({ image: "img:2", restartCount: 1 });
  // As a kubelet, which reports the pod again when the next run has started.
  const ready = world.statuses.map(({ containerStatuses }) => containerStatuses?.[0]?.ready);
  expect(ready.slice(ready.indexOf(true))).not.toContain(false);
});

test("a new image that is not here shows the container as waiting", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.change({ containers: [{ ...main, image: "img:3" }] });
  await world.run(1);
  expect(world.container("main")?.ready).toBe(false);
  expect(world.container("main")?.state?.waiting?.reason).toBe("ErrImagePull");
});

test("a deleted pod gets SIGTERM, and is removed when its processes are gone", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.delete(30);
  await world.run(1);
  expect(world.process("main").signals[0]).toBe("SIGTERM");
  expect(world.container("main")?.state?.terminated).toMatchObject({ exitCode: 143, signal: 15 });
  expect(world.isRemoved).toBe(true);
  expect(world.worker.isDone).toBe(true);
});

test("a process that ignores SIGTERM is killed when the grace is over", async () => {
  const world = new PodWorld({ containers: [main] });
  world.isStubborn = true;
  await world.run(1);
  world.delete(7);
  await world.run(6);
  expect(world.isRemoved).toBe(false);
  await world.run(2);
  expect(world.isRemoved).toBe(true);
  expect(world.container("main")?.state?.terminated).toMatchObject({ exitCode: 137, signal: 9 });
});

test("a second deletion with a shorter grace counts", async () => {
  const world = new PodWorld({ containers: [main] });
  world.isStubborn = true;
  await world.run(1);
  world.delete(600);
  await world.run(5);
  world.delete(2);
  await world.run(3);
  expect(world.isRemoved).toBe(true);
});

test("preStop runs before SIGTERM and counts against the grace", async () => {
  const preStop = { exec: { command: ["drain"] } };
  const polite = new PodWorld({ containers: [{ ...main, lifecycle: { preStop } }] });
  await polite.run(1);
  polite.delete(10);
  await polite.run(1);
  expect(polite.commands).toEqual(["drain"]);
  expect(polite.process("main").signals[0]).toBe("SIGTERM");
  const hanging = new PodWorld({ containers: [{ ...main, lifecycle: { preStop } }] });
  hanging.onExec = () => undefined;
  await hanging.run(1);
  hanging.delete(10);
  await hanging.run(9);
  expect(hanging.isRemoved).toBe(false);
  await hanging.run(4);
  expect(hanging.isRemoved).toBe(true);
});

test("a postStart that fails restarts the container", async () => {
  const world = new PodWorld({ containers: [{ ...main, lifecycle: { postStart: { exec: { command: ["warm"] } } } }] });
  world.onExec = () => 1;
  await world.run(1);
  expect(world.events.join("\n")).toContain("FailedPostStartHook");
  expect(world.starts.length).toBeGreaterThan(1);
});

test("a pod that the API no longer has is destroyed at once", async () => {
  const world = new PodWorld({ containers: [main] });
  world.isStubborn = true;
  await world.run(1);
  const gone = world.worker.removed();
  await world.run(1);
  await gone;
  expect(world.process("main").signals).toContain("destroy");
  expect(world.worker.isDone).toBe(true);
});

test("an image that cannot be had is tried again after 10, 20, 40 … seconds", async () => {
  const world = new PodWorld({ containers: [{ ...main, image: "nope:1" }] });
  await world.run(1);
  expect(reasonOf(world)).toBe("ErrImagePull");
  await world.run(5);
  expect(world.events).toContain('main BackOff: Back-off pulling image "nope:1"');
  expect(reasonOf(world)).toBe("ImagePullBackOff");
  expect(world.container("main")?.state?.waiting?.message).toContain("no nope:1 here");
  expect(world.status.phase).toBe("Pending");
  await world.run(6);
  world.imagesHere.add("nope:1");
  await world.run(20);
  expect(world.startsOf("main")).toEqual([30]);
});

test("imagePullPolicy Never waits for an image that is not there, Always looks it up each time", async () => {
  const never = new PodWorld({ containers: [{ ...main, image: "nope:1", imagePullPolicy: "Never" }] });
  await never.run(1);
  expect(never.container("main")?.state?.waiting).toEqual({
    reason: "ErrImageNeverPull",
    message: 'Container image "nope:1" is not present with pull policy of Never',
  });
  expect(never.pulls).toEqual([]);
  never.imagesHere.add("nope:1");
  await never.run(10);
  expect(never.status.phase).toBe("Running");
  const always = new PodWorld({ containers: [{ ...main, imagePullPolicy: "Always" }] });
  await always.run(1);
  expect(always.events).toContain('main Pulled: Successfully pulled image "img:1" in 0s (0s including waiting).');
});

test("a container's last words are its termination message, or with FallbackToLogsOnError its last lines", async () => {
  const policy = "FallbackToLogsOnError";
  const second = { ...main, name: "second", terminationMessagePolicy: policy } as const;
  const world = new PodWorld({ restartPolicy: "Never", containers: [main, second] });
  await world.run(1);
  const { spec } = world.process("main");
  const file = spec.mounts.find(({ target }) => target === "/dev/termination-log")?.source ?? "";
  writeFileSync(file, "the disk is full");
  world.process("main").exit(1);
  const log = logFile(join(world.directory, "u1"), "second", 0);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, ["starting", "no such table"].map((text) => `2026-01-01T00:00:00Z stderr F ${text}\n`).join(""));
  world.process("second").exit(1);
  await world.run(1);
  expect(world.container("main")?.state?.terminated?.message).toBe("the disk is full");
  expect(world.container("second")?.state?.terminated?.message).toBe("starting\nno such table\n");
});

test("last lines that end without a line end are a message without one", async () => {
  const policy = { terminationMessagePolicy: "FallbackToLogsOnError" } as const;
  const world = new PodWorld({ restartPolicy: "Never", containers: [{ ...main, ...policy }] });
  await world.run(1);
  const log = logFile(join(world.directory, "u1"), "main", 0);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, "2026-01-01T00:00:00Z stdout P DONE\n");
  world.process("main").exit(1);
  await world.run(1);
  expect(world.container("main")?.state?.terminated?.message).toBe("DONE");
});

test("a status names the generation that it is of", async () => {
  const world = new PodWorld({ containers: [main] }, { metadata: { generation: 3 } });
  await world.run(1);
  expect(world.status.observedGeneration).toBe(3);
});

test("each change of a pod is reported with its generation", async () => {
  const world = new PodWorld({ containers: [main] }, { metadata: { generation: 1 } });
  await world.run(1);
  for (const generation of [2, 3]) {
    world.change({ activeDeadlineSeconds: 5_000 - generation }, generation);
    await world.run(0.1);
    expect(world.status.observedGeneration).toBe(generation);
  }
});

test("a pod ends when it has run as long as activeDeadlineSeconds allows, also when that is changed", async () => {
  const world = new PodWorld({ containers: [main], activeDeadlineSeconds: 3_600 });
  world.isStubborn = true;
  await world.run(60);
  expect(world.status.phase).toBe("Running");
  world.change({ activeDeadlineSeconds: 90, terminationGracePeriodSeconds: 5 });
  await world.run(32);
  expect(world.process("main").signals).toEqual(["SIGTERM"]);
  expect(world.status.phase).toBe("Running");
  await world.run(5);
  expect(world.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
  expect(world.container("main")?.state?.terminated?.exitCode).toBe(137);
  expect(world.hasSandbox).toBe(false);
  expect(world.events).toContain(" DeadlineExceeded: Pod was active on the node longer than the specified deadline");
});

test("files that the node gives to a container are kept current", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.hosts = "second";
  world.worker.wake();
  await world.run(1);
  expect(world.process("main").files).toEqual({ "/etc/hosts": "second" });
});

test("a start that fails counts as a run that ended", async () => {
  const world = new PodWorld({ restartPolicy: "Never", containers: [main] });
  world.onStart = () => {
    throw new Error("no such program");
  };
  await world.run(1);
  expect(world.container("main")?.state?.terminated).toMatchObject({ exitCode: 128, reason: "StartError" });
  expect(world.status.phase).toBe("Failed");
});

test("a reference to a ConfigMap that is missing waits with CreateContainerConfigError", async () => {
  const env = [{ name: "A", valueFrom: { configMapKeyRef: { name: "gone", key: "a" } } }];
  const world = new PodWorld({ containers: [{ ...main, env }] });
  await world.run(1);
  expect(world.container("main")?.state?.waiting).toEqual({
    reason: "CreateContainerConfigError",
    message: 'configmap "gone" not found',
  });
});

test("a pod of root is refused where runAsNonRoot is asked for", async () => {
  const world = new PodWorld({ securityContext: { runAsNonRoot: true }, containers: [main] });
  await world.run(1);
  expect(world.container("main")?.state?.waiting?.message).toContain("image will run as root");
  expect(world.starts).toEqual([]);
});

const left = { attempt: 0, startedAtMs: Date.parse("2026-01-01T00:00:00Z") };

test("an agent that starts again finds containers gone when the machine was, and starts them again", async () => {
  const before = new PodWorld({ containers: [main] });
  await before.run(1);
  const world = new PodWorld({ containers: [main] }, { status: before.status });
  await world.run(1);
  expect(world.container("main")).toMatchObject({
    restartCount: 1,
    state: { running: {} },
    lastState: { terminated: { exitCode: 137 } },
  });
});

test("a container that an agent before started goes on, ready, and is counted as no restart", async () => {
  const probed = {
    ...main,
    readinessProbe: { exec: { command: ["up"] } },
    startupProbe: { exec: { command: ["up"] } },
  };
  const before = new PodWorld({ containers: [probed] });
  await before.run(30);
  expect(before.condition("Ready")).toBe("True");
  const running = before.process("main");
  const world = new PodWorld({ containers: [probed] }, { status: before.status }, [{ ...left, running }]);
  world.onExec = () => undefined;
  await world.run(2);
  expect(world.starts).toEqual([]);
  expect(world.worker.status().containerStatuses).toEqual(before.status.containerStatuses);
  expect(world.events.filter((event) => event.includes("Started"))).toEqual([]);
});

test("a container that ended while no agent was there ended as it did, and starts again", async () => {
  const before = new PodWorld({ containers: [main] });
  await before.run(1);
  const exit = { exitCode: 7, finishedAtMs: Date.parse("2026-01-01T00:00:30Z") };
  const world = new PodWorld({ containers: [main] }, { status: before.status }, [{ ...left, exit }]);
  await world.run(1);
  expect(world.container("main")).toMatchObject({
    restartCount: 1,
    state: { running: {} },
    lastState: { terminated: { exitCode: 7, finishedAt: "2026-01-01T00:00:30Z" } },
  });
});

test("a restart that the agent before did not report is counted all the same", async () => {
  const before = new PodWorld({ containers: [main] });
  await before.run(1);
  const running = before.process("main");
  const world = new PodWorld({ containers: [main] }, { status: before.status }, [{ ...left, attempt: 1, running }]);
  await world.run(1);
  expect(world.starts).toEqual([]);
  expect(world.container("main")).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 137 } } });
});

test("a container whose end nobody saw has an unknown status", async () => {
  const world = new PodWorld({ restartPolicy: "Never", containers: [main] }, {}, [
    { ...left, exit: { exitCode: 137, isUnknown: true } },
  ]);
  await world.run(1);
  expect(world.container("main")?.state?.terminated?.reason).toBe("ContainerStatusUnknown");
});

test("a container that the kernel ended for its memory says so", async () => {
  const world = new PodWorld({ restartPolicy: "Never", containers: [main] }, {}, [
    { ...left, exit: { exitCode: 137, oomKilled: true } },
  ]);
  await world.run(1);
  expect(world.container("main")?.state?.terminated).toMatchObject({ reason: "OOMKilled", exitCode: 137 });
});

test("a node that stops does not wait for the longer grace of a container that is being stopped already", async () => {
  const probe = { exec: { command: ["up"] }, periodSeconds: 1, failureThreshold: 1 };
  const world = new PodWorld({ containers: [{ ...main, livenessProbe: probe }] });
  world.isStubborn = true;
  await world.run(1);
  world.onExec = () => 1;
  await world.run(3);
  expect(world.process("main").signals).toEqual(["SIGTERM"]);
  const stopped = world.worker.stop(5_000);
  await world.run(6);
  await stopped;
  expect([world.process("main").signals.includes("destroy"), world.hasSandbox]).toEqual([true, false]);
});

test("an agent that leaves its pods to the next one stops and reports nothing", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  const written = world.statuses.length;
  await world.worker.leave();
  world.process("main").exit(3);
  await world.run(60);
  expect([world.process("main").signals, world.statuses.length, world.hasSandbox]).toEqual([[], written, true]);
});

test("a pod whose namespaces cannot be made says why, and is tried again", async () => {
  const world = new PodWorld({ containers: [main] });
  world.sandboxProblem = "unshare: Operation not permitted";
  await world.run(1);
  expect(world.events.join()).toContain("FailedCreatePodSandBox: Failed to create pod sandbox: unshare");
  world.sandboxProblem = undefined;
  await world.run(5);
  expect(world.status.phase).toBe("Running");
});

test("a pod whose namespaces are gone is killed and made again", async () => {
  const world = new PodWorld({ containers: [main] });
  await world.run(1);
  world.hasSandbox = false;
  world.worker.wake();
  await world.run(15);
  expect(world.events.join()).toContain("SandboxChanged");
  expect(world.startsOf("main")).toHaveLength(2);
});

test("a pod that has another address under the next agent is restarted with it, once", async () => {
  const before = new PodWorld({ containers: [main] });
  await before.run(1);
  const running = before.process("main");
  const status = { ...before.status, podIP: "127.64.16.2" };
  const world = new PodWorld({ containers: [main] }, { status }, [{ ...left, running }]);
  await world.run(15);
  expect(running.signals).toEqual(["destroy"]);
  expect([world.startsOf("main").length, world.status.podIP]).toEqual([1, "127.64.0.2"]);
  expect(world.container("main")).toMatchObject({ restartCount: 1, state: { running: {} } });
  expect(world.events.join()).toContain("SandboxChanged: The addresses of the node changed, so the pod has 127.64.0.2");
});

test("an agent that starts again ends a pod that was deleted meanwhile, and says how its containers ended", async () => {
  const before = new PodWorld({ containers: [main] });
  await before.run(1);
  const deletion = { deletionTimestamp: "2026-01-01T00:00:00Z", deletionGracePeriodSeconds: 30 };
  const world = new PodWorld({ containers: [main] }, { status: before.status, metadata: deletion });
  await world.run(1);
  expect(world.starts).toEqual([]);
  expect(world.container("main")?.state?.terminated?.exitCode).toBe(137);
  expect(world.isRemoved).toBe(true);
});
