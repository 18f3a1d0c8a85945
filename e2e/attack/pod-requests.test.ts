/**
 * A pod asks for rights over its host in the words of the API: it is refused with a reason, or gets no more
 * than it may have.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { missingForPods, TestCluster, until } from "../node/test-cluster.ts";
import { toolsImage } from "../node/tools-image.ts";

const reason = missingForPods();
let cluster: TestCluster;
let parts: AsyncDisposableStack;
let canary: string;

beforeAll(async () => {
  if (reason !== "") return;
  await using stack = new AsyncDisposableStack();
  canary = mkdtempSync(join(tmpdir(), "setpoint-canary-"));
  stack.defer(() => rmSync(canary, { recursive: true }));
  writeFileSync(join(canary, "secret"), "canary-secret");
  cluster = stack.use(await TestCluster.start(1));
  parts = stack.move();
});

afterAll(() => parts?.disposeAsync());

interface Request {
  readonly name: string;
  readonly pod?: string;
  readonly container?: string;
  readonly command?: string;
}

function podYaml({ name, pod = "", container = "", command = "cat /host/secret; sleep 1000" }: Request): string {
  return `
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  terminationGracePeriodSeconds: 0
  restartPolicy: Never
  ${pod}
  containers:
  - name: main
    image: ${toolsImage}
    command: [sh, -c, ${JSON.stringify(command)}]
    ${container}
`;
}

const refused: readonly Request[] = [
  { name: "host-network", pod: "hostNetwork: true" },
  { name: "host-pid", pod: "hostPID: true" },
  { name: "host-ipc", pod: "hostIPC: true" },
  { name: "host-users", pod: "hostUsers: true" },
  { name: "sysctls", pod: "securityContext: { sysctls: [{ name: kernel.msgmax, value: '65536' }] }" },
  { name: "privileged", container: "securityContext: { privileged: true }" },
  { name: "proc-mount", container: "securityContext: { procMount: Unmasked }" },
  { name: "no-such-capability", container: "securityContext: { capabilities: { add: [EVERYTHING] } }" },
  { name: "sys-admin", container: "securityContext: { capabilities: { add: [SYS_ADMIN] } }" },
  { name: "all-capabilities", container: "securityContext: { capabilities: { add: [ALL] } }" },
  { name: "apparmor", container: "securityContext: { appArmorProfile: { type: Localhost, localhostProfile: x } }" },
  { name: "seccomp", container: "securityContext: { seccompProfile: { type: Localhost, localhostProfile: ../../x } }" },
];

test.skipIf(reason)(`what this node cannot honour is refused with a reason and an event ${reason}`, async () => {
  await cluster.apply(refused.map(podYaml).join("---"));
  for (const { name } of refused) {
    const pod = await cluster.pod(name, ({ status }) => waiting(status) !== undefined, 60);
    expect(waiting(pod.status)?.reason, name).toBe("CreateContainerConfigError");
    expect(waiting(pod.status)?.message, name).toContain("Cannot run the pod");
    await until(`an event of ${name}`, 10, async () =>
      (await cluster.events(name)).find((event) => event.startsWith("Failed: Error: Cannot run the pod")),
    );
  }
  for (const { name } of refused) await cluster.delete("Pod", name);
});

function waiting({
  containerStatuses: [main],
}: {
  readonly containerStatuses: readonly { readonly state: { readonly waiting?: { reason: string; message: string } } }[];
}) {
  const state = main?.state.waiting;
  return state?.reason === "ContainerCreating" ? undefined : state;
}

test.skipIf(reason)(
  `a folder of the host is not mounted, neither as hostPath nor by a persistent volume ${reason}`,
  async () => {
    const mounts = "volumeMounts: [{ name: host, mountPath: /host }]";
    await cluster.apply(`
apiVersion: v1
kind: PersistentVolume
metadata: { name: host }
spec: { capacity: { storage: 1Gi }, accessModes: [ReadWriteOnce], hostPath: { path: "${canary}" }, storageClassName: none, claimRef: { namespace: default, name: host } }
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: { name: host }
spec: { accessModes: [ReadWriteOnce], storageClassName: none, volumeName: host, resources: { requests: { storage: 1Gi } } }
---${podYaml({ name: "host-path", pod: `volumes: [{ name: host, hostPath: { path: "${canary}" } }]`, container: mounts })}
---${podYaml({ name: "host-claim", pod: "volumes: [{ name: host, persistentVolumeClaim: { claimName: host } }]", container: mounts })}`);
    const pod = await cluster.pod("host-path", ({ status }) => waiting(status) !== undefined, 60);
    expect(waiting(pod.status)?.message).toContain("hostPath");
    const claimed = await cluster.pod(
      "host-claim",
      ({ status }) => status.containerStatuses[0]?.state.waiting?.message !== undefined,
      60,
    );
    expect(claimed.status.containerStatuses[0]?.state.running).toBeUndefined();
    expect(readdirSync(canary)).toEqual(["secret"]);
    expect(readFileSync(join(canary, "secret"), "utf8")).toBe("canary-secret");
    for (const name of ["host-path", "host-claim"]) await cluster.delete("Pod", name);
  },
);

test.skipIf(reason)(`users, groups, modes and capabilities are as asked ${reason}`, async () => {
  const script =
    "id -u; id -g; busybox id -G; busybox grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status; touch /v/new && busybox stat -c '%u %g %a' /v/new /v; touch /root-is-writable; busybox stat -L -c %a /s/key; cat /s/key";
  await cluster.apply(`
apiVersion: v1
kind: Secret
metadata: { name: group-readable }
data: { key: ${Buffer.from("for the group").toString("base64")} }
---${podYaml({
    name: "as-asked",
    pod: "securityContext: { runAsUser: 1234, runAsGroup: 2345, fsGroup: 3456, supplementalGroups: [4567] }\n  volumes: [{ name: v, emptyDir: {} }, { name: s, secret: { secretName: group-readable, defaultMode: 256 } }]",
    container:
      "securityContext: { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL], add: [NET_BIND_SERVICE] } }\n    volumeMounts: [{ name: v, mountPath: /v }, { name: s, mountPath: /s }]",
    command: `(${script}) 2>&1`,
  })}`);
  await cluster.pod("as-asked", ({ status }) => status.containerStatuses[0]?.state.terminated !== undefined, 60);
  const lines = (await cluster.logs("as-asked")).trim().split("\n");
  expect(lines.slice(0, 2)).toEqual(["1234", "2345"]);
  expect(lines[2]?.split(" ").sort()).toEqual(["2345", "3456", "4567"]);
  expect(lines.slice(3, 6).map((line) => line.split(/\s+/)[1])).toEqual(["0000000000000000", "0000000000000400", "1"]);
  expect(lines.slice(6, 8)).toEqual(["1234 3456 644", "0 3456 2777"]);
  expect(lines[8]).toContain("Read-only file system");
  expect(lines.slice(9)).toEqual(["440", "for the group"]);
});

test.skipIf(reason)(`a setuid program gives a pod nothing that it forbade itself ${reason}`, async () => {
  await cluster.apply(
    podYaml({
      name: "setuid",
      pod: "volumes: [{ name: v, emptyDir: {} }]\n  initContainers: [{ name: root, image: IMAGE, command: [sh, -c, 'busybox cp /bin/busybox /v/busybox; busybox chmod 4755 /v/busybox'], volumeMounts: [{ name: v, mountPath: /v }] }]".replace(
        "IMAGE",
        toolsImage,
      ),
      container:
        "securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false }\n    volumeMounts: [{ name: v, mountPath: /v }]",
      command: "/v/busybox id -u",
    }),
  );
  await cluster.pod("setuid", ({ status }) => status.containerStatuses[0]?.state.terminated !== undefined, 60);
  expect(await cluster.logs("setuid")).toBe("1000\n");
});
