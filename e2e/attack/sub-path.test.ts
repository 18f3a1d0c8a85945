/**
 * Links that pods, images and objects hold lead to a folder of this test, outside of everything that a pod
 * may see.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { missingForPods, TestCluster } from "../node/test-cluster.ts";
import { toolsImage } from "../node/tools-image.ts";

const reason = missingForPods();
let cluster: TestCluster;
let canary: string;

beforeAll(async () => {
  if (reason === "") cluster = await TestCluster.start(1);
});

afterAll(() => cluster?.[Symbol.asyncDispose]());

beforeEach(() => {
  canary = mkdtempSync(join(tmpdir(), "setpoint-canary-"));
  writeFileSync(join(canary, "secret"), "canary-secret");
});

afterEach(() => {
  expect(readdirSync(canary)).toEqual(["secret"]);
  expect(readFileSync(join(canary, "secret"), "utf8")).toBe("canary-secret");
  rmSync(canary, { recursive: true });
});

interface Trap {
  readonly name: string;
  /** What an init container does in /vol first. */
  readonly setup: string;
  readonly mount: string;
  readonly script?: string;
  readonly more?: string;
}

const attack =
  "cat /target/secret /target 2>/dev/null; echo changed > /target/secret; echo changed > /target; touch /target/new";

function trapYaml({ name, setup, mount, script = attack, more = "" }: Trap): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  initContainers:
  - name: setup
    image: ${toolsImage}
    command: [sh, -c, ${JSON.stringify(setup)}]
    volumeMounts: [{ name: vol, mountPath: /vol }]
  containers:
  - name: main
    image: ${toolsImage}
    command: [sh, -c, ${JSON.stringify(`(${script}) 2>/dev/null; true`)}]
    volumeMounts:
    - ${mount}
    ${more}
  volumes:
  - { name: vol, emptyDir: {} }
  - { name: other, emptyDir: {} }
`;
}

interface Ended {
  readonly reason: string | undefined;
  readonly message: string | undefined;
  readonly log: string;
}

/** Runs the pod until its main container has ended or cannot start. */
async function spring(trap: Trap): Promise<Ended> {
  await cluster.apply(trapYaml(trap));
  const refusals = ["CreateContainerConfigError", "CreateContainerError", "StartError", "RunContainerError"];
  const pod = await cluster.pod(
    trap.name,
    ({ status }) => {
      const state = status.containerStatuses[0]?.state;
      return state?.terminated !== undefined || refusals.includes(state?.waiting?.reason ?? "");
    },
    60,
  );
  const state = pod.status.containerStatuses[0]?.state;
  const ran = state?.terminated !== undefined && state.terminated.reason !== "StartError";
  const log = ran ? await cluster.logs(trap.name) : "";
  await cluster.delete("Pod", trap.name);
  const { reason: why, message } = state?.terminated ?? state?.waiting ?? {};
  return { reason: why, message, log };
}

test.skipIf(reason)(`a subPath that is a link to a folder of the host is refused ${reason}`, async () => {
  const end = await spring({
    name: "link",
    setup: `busybox ln -s ${canary} /vol/evil`,
    mount: "{ name: vol, mountPath: /target, subPath: evil }",
  });
  expect(end.log).not.toContain("canary-secret");
  expect(end.reason).toBe("CreateContainerConfigError");
});

test.skipIf(reason)(`a subPath below a link to a folder of the host is refused ${reason}`, async () => {
  const end = await spring({
    name: "below-link",
    setup: `busybox ln -s ${canary} /vol/evil`,
    mount: "{ name: vol, mountPath: /target, subPath: evil/secret }",
  });
  expect(end.log).not.toContain("canary-secret");
  expect(end.reason).toBe("CreateContainerConfigError");
});

test.skipIf(reason)(`a subPath through links with .. does not leave the volume ${reason}`, async () => {
  const end = await spring({
    name: "dots-link",
    setup: `busybox ln -s ../../../../../../../../../../..${canary} /vol/evil`,
    mount: "{ name: vol, mountPath: /target, subPath: evil }",
  });
  expect(end.log).not.toContain("canary-secret");
});

test.skipIf(reason)(`a subPathExpr that expands to a way out is refused ${reason}`, async () => {
  const end = await spring({
    name: "expression",
    setup: "true",
    mount: "{ name: vol, mountPath: /target, subPathExpr: $(WAY) }",
    more: `env: [{ name: WAY, value: "../../../../../../../../../..${canary}" }]`,
  });
  expect(end.log).not.toContain("canary-secret");
});

test.skipIf(reason)(`a link that changes all the time never shows the host ${reason}`, async () => {
  const name = "race";
  const racers = Array.from(
    { length: 6 },
    (_, i) => `
  - name: racer-${i}
    image: ${toolsImage}
    command: [sh, -c, "cat /target/secret; touch /target/new; sleep 0.1; exit 1"]
    volumeMounts: [{ name: vol, mountPath: /target, subPath: sub }]`,
  ).join("");
  await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  containers:
  - name: switcher
    image: ${toolsImage}
    command: [sh, -c, "cd /vol; while :; do busybox mkdir sub; busybox rmdir sub; busybox ln -s ${canary} sub; busybox rm sub; done"]
    volumeMounts: [{ name: vol, mountPath: /vol }]${racers}
  volumes: [{ name: vol, emptyDir: {} }]
`);
  await cluster.pod(name, ({ status }) => status.containerStatuses.some(({ restartCount }) => restartCount > 0), 60);
  for (let i = 0; i < 6; i++)
    expect(await cluster.logs(name, { container: `racer-${i}` })).not.toContain("canary-secret");
  await cluster.delete("Pod", name);
});

test.skipIf(reason)(`a mount point below a link in a volume is not made on the host ${reason}`, async () => {
  const end = await spring({
    name: "nested",
    setup: `busybox ln -s /oldroot${canary} /vol/evil; busybox ln -s ${canary} /vol/direct`,
    mount: "{ name: vol, mountPath: /vol }",
    more: "- { name: other, mountPath: /vol/evil/made }\n    - { name: other, mountPath: /vol/direct/made }",
    script: "true",
  });
  expect(existsSync(join(canary, "made")), end.message).toBe(false);
});

test.skipIf(reason)(`a termination message is never read from a file of the host ${reason}`, async () => {
  const end = await spring({
    name: "message",
    setup: `busybox ln -s ${canary}/secret /vol/message`,
    mount: "{ name: vol, mountPath: /vol }",
    more: "terminationMessagePath: /vol/message",
    script: "busybox rm -f /vol/message; busybox ln -s /etc/hostname /vol/message; true",
  });
  expect(end.message ?? "").not.toContain("canary-secret");
});

test.skipIf(reason)(`keys and items of a ConfigMap never leave their volume ${reason}`, async () => {
  for (const path of [`../../../../../../../..${canary}/new`, "/absolute", "a/../../b", ".."]) {
    const apply = cluster.apply(`
apiVersion: v1
kind: ConfigMap
metadata: { name: keys }
data: { key: changed }
---
apiVersion: v1
kind: Pod
metadata: { name: items }
spec:
  containers: [{ name: main, image: ${toolsImage}, command: [sleep, "1"], volumeMounts: [{ name: v, mountPath: /v }] }]
  volumes: [{ name: v, configMap: { name: keys, items: [{ key: key, path: "${path}" }] } }]
`);
    await expect(apply).rejects.toThrow(/path|must not contain/);
  }
});
