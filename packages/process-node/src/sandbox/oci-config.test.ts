import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ContainerSpec, Mount, PodSandbox } from "./container-runtime.ts";
import { isMountedAsFolder } from "../volumes/path-beneath.ts";
import { ociBundle, type OciBundle } from "./oci-config.ts";
import { ociProcess } from "./oci-process.ts";
import { writeSkeleton } from "./root-layout.ts";

const ids = { container: 0, host: 1_900_000_000, size: 65_536 };
const sandbox: PodSandbox = { podUid: "uid", holderPid: 42, uids: ids, gids: ids, networkNamespace: true };

function world(folder = tmpdir()) {
  const directory = mkdtempSync(join(folder, "process-node-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const root = join(directory, "image");
  mkdirSync(join(root, "usr/bin"), { recursive: true });
  mkdirSync(join(root, "etc"));
  writeFileSync(join(root, "etc/passwd"), "");
  symlinkSync("usr/bin", join(root, "bin"));
  const bundle = (extra: Partial<ContainerSpec>, shiftIds = true, host?: PodSandbox["host"]): OciBundle =>
    ociBundle(spec(root, extra), {
      sandbox: { ...sandbox, ...(host === undefined ? {} : { host }) },
      stageDirectory: "/stage",
      files: {},
      shiftIds,
      architecture: "x64",
      hasCgroups: true,
      isFolder: isMountedAsFolder,
    });
  return { directory, root, bundle };
}

function spec(root: string, extra: Partial<ContainerSpec>): ContainerSpec {
  const base = {
    id: "uid/main/0",
    image: "tools:1",
    rootDirectory: root,
    command: ["sh"],
    env: {},
    hostname: "web-0",
    files: {},
  };
  return { ...base, mounts: [], ...extra };
}

test("a container is in the namespaces of its pod, with processes and mounts of its own", () => {
  const { linux } = world().bundle({}).config;
  const paths = Object.fromEntries(linux.namespaces.map(({ type, path }) => [type, path]));
  expect(paths).toEqual({
    mount: undefined,
    pid: undefined,
    cgroup: undefined,
    user: "/proc/42/ns/user",
    ipc: "/proc/42/ns/ipc",
    uts: "/proc/42/ns/uts",
    network: "/proc/42/ns/net",
  });
  expect(linux.readonlyPaths).toEqual(expect.arrayContaining(["/proc/sys", "/sys/fs/cgroup"]));
  expect(linux.maskedPaths).toContain("/proc/kcore");
  expect(linux.seccomp?.defaultAction).toBe("SCMP_ACT_ERRNO");
});

test("a container without a filter does not get the keys of the node's session", () => {
  const security: ContainerSpec["security"] = {
    capabilities: [],
    noNewPrivileges: false,
    seccomp: "unconfined",
    supplementalGroups: [],
  };
  const { seccomp } = world().bundle({ security }).config.linux;
  expect(seccomp?.defaultAction).toBe("SCMP_ACT_ALLOW");
  expect(seccomp?.syscalls.map(({ names }) => names)).toEqual([["add_key", "keyctl", "request_key"]]);
});

const privileged: ContainerSpec["security"] = {
  capabilities: [],
  noNewPrivileges: false,
  isPrivileged: true,
  seccomp: "default",
  supplementalGroups: [],
};

test("a privileged container of a pod with the host's users has no filter and no mask, but /sys and devices", () => {
  const { linux, mounts } = world().bundle({ security: privileged }, true, { ipc: false, pid: false }).config;
  expect(linux).toMatchObject({ maskedPaths: [], readonlyPaths: [], resources: { devices: [{ allow: true }] } });
  expect([linux.seccomp, linux.uidMappings]).toEqual([undefined, undefined]);
  expect(linux.namespaces.map(({ type }) => type)).not.toContain("user");
  expect(mounts.find(({ destination }) => destination === "/sys")).toMatchObject({ source: "/sys" });
  expect(mounts.some(({ options }) => options.includes("idmap"))).toBe(false);
});

test("a privileged container of a pod with users of its own is root of the pod alone", () => {
  const { linux, mounts } = world().bundle({ security: privileged }).config;
  expect(linux.seccomp?.defaultAction).toBe("SCMP_ACT_ERRNO");
  expect(linux.devices).toBeUndefined();
  expect(mounts.some(({ source }) => source === "/sys")).toBe(false);
});

test("a pod with the processes and the shared memory of the host has no namespace of its own for them", () => {
  const { linux, mounts } = world().bundle({}, true, { ipc: true, pid: true }).config;
  expect(linux.namespaces.map(({ type }) => type)).not.toContain("pid");
  expect(mounts.find(({ destination }) => destination === "/dev/shm")).toMatchObject({ source: "/dev/shm" });
  expect(linux.seccomp?.defaultAction).toBe("SCMP_ACT_ERRNO");
});

test("mount points lie in the skeleton before anything is mounted, and links of the image stay links", () => {
  const { directory, root, bundle } = world();
  symlinkSync("/etc", join(root, "data"));
  const { layout } = bundle({ mounts: [{ source: directory, target: "/data/deep/volume" }] });
  const skeleton = join(directory, "skeleton");
  mkdirSync(skeleton);
  writeSkeleton(layout, skeleton);
  expect(readlinkSync(join(skeleton, "data"))).toBe("/etc");
  expect(lstatSync(join(skeleton, "etc/deep/volume")).isDirectory()).toBe(true);
  expect(lstatSync(join(skeleton, "etc/passwd")).isFile()).toBe(true);
  expect(existsSync(join(root, "etc/deep"))).toBe(false);
});

test("files of the pod are not mounted at the end of 41 links of the image", () => {
  const { directory, root, bundle } = world();
  const outside = join(directory, "outside");
  mkdirSync(outside);
  rmSync(join(root, "etc"), { recursive: true });
  for (let i = 0; i < 41; i++) symlinkSync(i === 40 ? outside : `l${i + 1}`, join(root, i === 0 ? "etc" : `l${i}`));
  expect(() => bundle({ mounts: [{ source: directory, target: "/etc/hosts" }] })).toThrow(
    'Cannot use image "tools:1": path "/etc/hosts" has more than 40 links (ELOOP)',
  );
});

test("no mount point is made below a link", () => {
  const { directory } = world();
  const [skeleton, outside] = [join(directory, "skeleton"), join(directory, "outside")];
  for (const folder of [skeleton, outside]) mkdirSync(folder);
  const layout = { folders: [], links: [["/etc", outside]] as const, binds: [] };
  for (const isFolder of [true, false]) {
    const mountPoints = [{ path: "/etc/hosts", isFolder }];
    rmSync(join(skeleton, "etc"), { force: true });
    expect(() => writeSkeleton({ ...layout, copies: [], mountPoints }, skeleton)).toThrow('has a link, "etc"');
  }
  expect(readdirSync(outside)).toEqual([]);
});

test("an image whose /var is a link keeps it", () => {
  const { directory, root, bundle } = world();
  symlinkSync("usr", join(root, "var"));
  const skeleton = join(directory, "skeleton");
  mkdirSync(skeleton);
  writeSkeleton(bundle({}).layout, skeleton);
  expect(readlinkSync(join(skeleton, "var"))).toBe("usr");
  expect(lstatSync(join(skeleton, "usr/tmp")).isDirectory()).toBe(true);
});

test("an image with too many entries is refused", () => {
  // In memory: a busy disk takes milliseconds for each.
  const { root, bundle } = world("/dev/shm");
  for (let i = 0; i < 8_001; i++) symlinkSync("x", join(root, `link-${i}`));
  expect(() => bundle({})).toThrow("more than 8000 entries have to be mounted");
});

test.for(["/proc/sys", "/proc", "/sys/fs/cgroup", "/", "/x/../proc", "/link/sys"])(
  "nothing is mounted at %s",
  (target) => {
    const { directory, root, bundle } = world();
    symlinkSync("/proc", join(root, "link"));
    expect(() => bundle({ mounts: [{ source: directory, target }] })).toThrow(`Cannot mount at "${target}"`);
  },
);

test("a subPath is mounted from the stage, where links are not followed", () => {
  const { directory, bundle } = world();
  const mount: Mount = { source: directory, target: "/data", subPath: "a/b", ownIds: true };
  const { config, staged } = bundle({ mounts: [mount] });
  expect(staged).toEqual([{ volume: directory, path: "a/b", name: "sub-0" }]);
  const made = config.mounts.find(({ destination }) => destination === "/data");
  expect(made).toMatchObject({
    source: "/stage/paths/sub-0",
    options: expect.arrayContaining(["rw", "nodev", "idmap"]),
  });
});

test("a further process has the user, rights and environment of the container", () => {
  const it = spec("/", {
    env: { A: "1" },
    runAsUser: 1000,
    runAsGroup: 2000,
    security: { capabilities: [], noNewPrivileges: true, seccomp: "default", supplementalGroups: [3000] },
  });
  expect(ociProcess(it, ["id"])).toEqual({
    terminal: false,
    user: { uid: 1000, gid: 2000, additionalGids: [3000] },
    args: ["id"],
    env: ["A=1"],
    cwd: "/",
    capabilities: { bounding: [], effective: [], permitted: [] },
    noNewPrivileges: true,
  });
});
