import type { Container, Pod, PodSpec } from "@setpoint/api";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ImageConfig } from "../images/image.ts";
import { defaultCapabilities } from "../sandbox/capabilities.ts";
import { containerCapabilities, containerIdentity } from "./container-security.ts";
import { refuseUnsupported } from "./refusals.ts";

const main: Container = { name: "main", image: "img" };

function pod(spec: Partial<PodSpec>, container: Partial<Container> = {}): [Pod, Container] {
  const it = { ...main, ...container };
  return [{ apiVersion: "v1", kind: "Pod", metadata: { name: "web" }, spec: { containers: [it], ...spec } }, it];
}

function image(config: ImageConfig = {}): { readonly rootDirectory: string; readonly config: ImageConfig } {
  const root = mkdtempSync(join(tmpdir(), "process-node-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0::/root:/bin/sh\napp:x:1000:1500::/:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "app:x:1500:\nextra:x:1600:other,app\n");
  return { rootDirectory: root, config };
}

test("the container's word is stronger than the pod's, and the image knows the rest", () => {
  const [it, container] = pod(
    { securityContext: { runAsUser: 2000, runAsNonRoot: true, fsGroup: 3000, supplementalGroups: [4000] } },
    { securityContext: { runAsUser: 1000, allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } },
  );
  expect(containerIdentity(it, container, image())).toEqual({
    user: 1000,
    group: 1500,
    security: {
      capabilities: [],
      noNewPrivileges: true,
      seccomp: "default",
      supplementalGroups: [1600, 4000, 3000],
    },
  });
});

test("supplementalGroupsPolicy Strict leaves out what the image knows", () => {
  const securityContext = { runAsUser: 1000, supplementalGroupsPolicy: "Strict", supplementalGroups: [7] } as const;
  const [it, container] = pod({ securityContext });
  expect(containerIdentity(it, container, image()).security.supplementalGroups).toEqual([7]);
});

test("the user and the group that the image names count where the pod names none", () => {
  const [it, container] = pod({});
  expect(containerIdentity(it, container, image({ user: "65532:65533" }))).toMatchObject({
    user: 65_532,
    group: 65_533,
  });
  expect(containerIdentity(it, container, image({ user: "app:extra" }))).toMatchObject({ user: 1000, group: 1600 });
  expect(containerIdentity(it, container, image({ user: "app" }))).toMatchObject({ user: 1000, group: 1500 });
  expect(containerIdentity(it, container, image())).toMatchObject({ user: 0, group: 0 });
  expect(() => containerIdentity(it, container, image({ user: "nobody" }))).toThrow('the image runs as "nobody"');
});

test("runAsNonRoot accepts the number of an image's user and refuses its name", () => {
  const [it, container] = pod({ securityContext: { runAsNonRoot: true } });
  expect(containerIdentity(it, container, image({ user: "65532" })).user).toBe(65_532);
  expect(() => containerIdentity(it, container, image({ user: "app" }))).toThrow("image has non-numeric user (app)");
  expect(() => containerIdentity(it, container, image({ user: "0" }))).toThrow("image will run as root");
});

test("users of an image are never read from the host", () => {
  const [built, host] = [image(), image()];
  const file = join(built.rootDirectory, "etc/passwd");
  rmSync(file);
  symlinkSync(join(host.rootDirectory, "etc/passwd"), file);
  const [it, container] = pod({ securityContext: { runAsUser: 1000 } });
  expect(containerIdentity(it, container, built).group).toBe(0);
  rmSync(file);
  for (let i = 0; i < 41; i++) {
    const target = i === 40 ? join(host.rootDirectory, "etc/passwd") : `/l${i + 1}`;
    symlinkSync(target, i === 0 ? file : join(built.rootDirectory, `l${i}`));
  }
  expect(() => containerIdentity(it, container, built)).toThrow('path "/etc/passwd" has more than 40 links (ELOOP)');
});

test.for(["4294967296", "4294967296:0", "18446744073709551616", "2147483648", "wraps", "+0", "-1", " 0", "0x0"])(
  "an image that runs as %j does not become root by it",
  (user) => {
    const built = image({ user });
    writeFileSync(join(built.rootDirectory, "etc/passwd"), "wraps:x:4294967296:4294967296::/:/bin/sh\n");
    for (const runAsNonRoot of [true, false]) {
      const [it, container] = pod({ securityContext: { runAsNonRoot } });
      expect(() => containerIdentity(it, container, built)).toThrow(/the image runs as|non-numeric user/);
    }
  },
);

test("a line of an image's users or groups whose id is none is passed over", () => {
  const built = image();
  writeFileSync(join(built.rootDirectory, "etc/passwd"), "app:x:1000:4294967296::/:/bin/sh\napp:x:1000:7::/:/bin/sh\n");
  writeFileSync(join(built.rootDirectory, "etc/group"), "a:x:-1:app\nb:x:4294967296:app\nc:x:9:app\nd:x::app\n");
  const [it, container] = pod({ securityContext: { runAsUser: 1000 } });
  const { group, security } = containerIdentity(it, container, built);
  expect([group, security.supplementalGroups]).toEqual([7, [9]]);
});

test("capabilities are dropped first, and what is added stays", () => {
  expect(containerCapabilities({})).toEqual(defaultCapabilities);
  expect(containerCapabilities({ drop: ["ALL"], add: ["NET_BIND_SERVICE"] })).toEqual(["CAP_NET_BIND_SERVICE"]);
  expect(containerCapabilities({ drop: ["cap_chown"] })).not.toContain("CAP_CHOWN");
});

test.for<[string, Partial<PodSpec>, Partial<Container>]>([
  ["hostNetwork", { hostNetwork: true }, {}],
  ["hostPID", { hostPID: true }, {}],
  ["hostIPC", { hostIPC: true }, {}],
  ["hostUsers", { hostUsers: true }, {}],
  ["shareProcessNamespace", { shareProcessNamespace: true }, {}],
  ["runtimeClassName", { runtimeClassName: "gvisor" }, {}],
  ["os.name", { os: { name: "windows" } }, {}],
  ["securityContext.sysctls", { securityContext: { sysctls: [{ name: "kernel.msgmax", value: "1" }] } }, {}],
  ["seccompProfile.type", { securityContext: { seccompProfile: { type: "Localhost", localhostProfile: "x" } } }, {}],
  ["appArmorProfile", {}, { securityContext: { appArmorProfile: { type: "RuntimeDefault" } } }],
  ["seccompProfile.type", {}, { securityContext: { seccompProfile: { type: "Localhost" } } }],
  ["securityContext.privileged", {}, { securityContext: { privileged: true } }],
  ["securityContext.procMount", {}, { securityContext: { procMount: "Unmasked" } }],
  ["securityContext.capabilities", {}, { securityContext: { capabilities: { add: ["SUPERPOWERS"] } } }],
  ["SYS_ADMIN", {}, { securityContext: { capabilities: { add: ["sys_admin"] } } }],
  ["SYS_ADMIN", {}, { securityContext: { capabilities: { add: ["ALL"], drop: ["SYS_ADMIN"] } } }],
  ["volumeDevices", {}, { volumeDevices: [{ name: "v", devicePath: "/dev/v" }] }],
  ["mountPropagation", {}, { volumeMounts: [{ name: "v", mountPath: "/v", mountPropagation: "Bidirectional" }] }],
  ["hostPath", { volumes: [{ name: "v", hostPath: { path: "/" } }] }, {}],
  ["a type of volume", { volumes: [{ name: "v", nfs: { server: "nfs.example.com", path: "/" } }] }, {}],
  ["emptyDir.medium", { volumes: [{ name: "v", emptyDir: { medium: "HugePages" } }] }, {}],
])("%s is refused with a reason", ([field, spec, container]) => {
  expect(() => refuseUnsupported(...pod(spec, container))).toThrow(field);
});

test("what changes nothing is not refused", () => {
  const [it, container] = pod(
    {
      hostNetwork: false,
      hostUsers: false,
      os: { name: "linux" },
      securityContext: {
        seccompProfile: { type: "RuntimeDefault" },
        seLinuxOptions: {},
        sysctls: [{ name: "kernel.shm_rmid_forced", value: "1" }],
      },
      volumes: [{ name: "v", emptyDir: { medium: "Memory" } }],
    },
    {
      securityContext: { privileged: false, procMount: "Default", capabilities: { drop: ["ALL"], add: ["NET_ADMIN"] } },
      volumeMounts: [{ name: "v", mountPath: "/v", mountPropagation: "None" }],
    },
  );
  expect(() => refuseUnsupported(it, container)).not.toThrow();
});
