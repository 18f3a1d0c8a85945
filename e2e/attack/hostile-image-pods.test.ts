/** Pods whose image leads to a folder of this test, outside of everything that a pod may reach. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageCacheFolder } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, ImageStore, loadImages } from "@setpoint/process-node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { missingForPods, TestCluster } from "../node/test-cluster.ts";
import { toolsImage, toolsImageSource } from "../node/tools-image.ts";
import { linkChain, type RawEntry, symlink, tarOf, writeArchive } from "./hostile-archive.ts";

const reason = missingForPods();
const directory = mkdtempSync(join(tmpdir(), "setpoint-hostile-"));
const canary = join(directory, "canary");
const ownCache = process.env["XDG_CACHE_HOME"];
let cluster: TestCluster;
let tools: Buffer;

beforeAll(async () => {
  if (reason !== "") return;
  tools = await toolsLayer();
  process.env["XDG_CACHE_HOME"] = join(directory, "cache");
  cluster = await TestCluster.start(1);
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
  if (ownCache === undefined) delete process.env["XDG_CACHE_HOME"];
  else process.env["XDG_CACHE_HOME"] = ownCache;
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  rmSync(canary, { recursive: true, force: true });
  mkdirSync(canary);
  writeFileSync(join(canary, "secret"), "canary-secret", { mode: 0o600 });
});

afterEach(() => {
  expect(readdirSync(canary)).toEqual(["secret"]);
  expect(readFileSync(join(canary, "secret"), "utf8")).toBe("canary-secret");
  expect(statSync(join(canary, "secret"))).toMatchObject({ mode: 0o100600, nlink: 1, uid: 0 });
  rmSync(canary, { recursive: true });
});

/** A shell and its tools. */
async function toolsLayer(): Promise<Buffer> {
  const catalog = createImageCatalog([], { [toolsImage]: toolsImageSource });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  const { rootDirectory } = await store.ensure(toolsImage);
  return spawnSync("tar", ["-cf", "-", "-C", rootDirectory, "."], { maxBuffer: 256 * 1024 * 1024 }).stdout;
}

interface Ended {
  readonly reason: string;
  readonly message: string;
  readonly log: string;
}

interface HostilePod {
  readonly name: string;
  /** Lies over the tools. */
  readonly layer?: readonly RawEntry[];
  readonly config?: object;
  /** Fields of its container. */
  readonly container?: string;
  readonly volumes?: string;
  readonly security?: string;
}

const restricted = `runAsNonRoot: true, allowPrivilegeEscalation: false, capabilities: { drop: [ALL] }, seccompProfile: { type: RuntimeDefault }`;
const attack =
  "cat /etc/secret /target/secret secret; echo changed > /etc/secret; echo changed > secret; touch /etc/new /target/new new";

/** Loads the image and runs a pod of it, as restricted as can be, until it has ended or cannot start. */
async function run(given: HostilePod): Promise<Ended> {
  const { name, layer = [], config = {}, container = "", volumes = "[]", security = restricted } = given;
  const image = `registry.example.com/${name}:1`;
  const path = join(directory, `${name}.tar.gz`);
  const start = { Env: ["PATH=/usr/bin:/bin"], Cmd: ["sh", "-c", `(${attack}) 2>/dev/null; true`], User: "1000" };
  writeArchive(path, { name: image, layers: [tools, tarOf(layer)], config: { ...start, ...config } });
  await loadImages({ clock: systemClock, directory: imageCacheFolder(), path });
  await cluster.apply(`
apiVersion: v1
kind: Pod
metadata: { name: ${name} }
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 0
  containers: [{ name: main, image: "${image}", securityContext: { ${security} }, ${container} }]
  volumes: ${volumes}
`);
  const refusals = ["CreateContainerConfigError", "CreateContainerError", "StartError", "RunContainerError"];
  const pod = await cluster.pod(
    name,
    ({ status }) => {
      const state = status.containerStatuses[0]?.state;
      return state?.terminated !== undefined || refusals.includes(state?.waiting?.reason ?? "");
    },
    60,
  );
  const state = pod.status.containerStatuses[0]?.state;
  const ran = state?.terminated !== undefined && state.terminated.reason !== "StartError";
  const log = ran ? await cluster.logs(name) : "";
  await cluster.delete("Pod", name);
  const { reason: why = "", message = "" } = state?.terminated ?? state?.waiting ?? {};
  return { reason: why, message, log };
}

test.skipIf(reason)(`the files of a pod are not written at the end of 41 links of its image ${reason}`, async () => {
  const layer = [{ name: ".wh.etc" }, ...linkChain(41, canary, "etc")];
  const ended = await run({ name: "chain", layer });
  expect(ended.message).toContain(
    'Cannot use image "registry.example.com/chain:1": path "/etc/passwd" has more than 40 links (ELOOP)',
  );
  expect(ended.reason).toBe("CreateContainerConfigError");
});

test.skipIf(reason)(`no volume is mounted at the end of 41 links of the image ${reason}`, async () => {
  const layer = [{ name: ".wh.etc" }, ...linkChain(42, join(canary, "x"), "etc")];
  const container = "volumeMounts: [{ name: v, mountPath: /etc/x/y }]";
  expect(await run({ name: "mounts", layer, container, volumes: "[{ name: v, emptyDir: {} }]" })).toMatchObject({
    reason: "CreateContainerConfigError",
    message: expect.stringContaining("ELOOP"),
  });
});

test.skipIf(reason)(`a chain of 40 links leads to a folder of the pod's own ${reason}`, async () => {
  const layer = [{ name: ".wh.etc" }, ...linkChain(40, canary, "etc")];
  const ended = await run({
    name: "inside",
    layer,
    config: { Cmd: ["sh", "-c", "cat /etc/hostname /etc/secret; true"] },
  });
  expect(ended.log).toMatch(/^inside\ncat: can't open '\/etc\/secret'/);
});

test.skipIf(reason).for([
  ["a file of the pod", [{ name: "etc/.wh.hosts" }, symlink("etc/hosts", "CANARY/secret")]],
  ["a folder to mount at", [symlink("target", "CANARY")]],
  ["a way with ..", [{ name: ".wh.etc" }, symlink("etc", "../../../../../..CANARY")]],
  ["a folder above a mount point", [{ name: ".wh.var" }, symlink("var", "CANARY")]],
] as const)(`%s that is a link leads nowhere on the host ${reason}`, async ([, entries]) => {
  const layer = entries.map((each) => ({
    ...each,
    ...("linkname" in each ? { linkname: each.linkname?.replace("CANARY", canary) ?? "" } : {}),
  }));
  const container = "volumeMounts: [{ name: v, mountPath: /target }, { name: v, mountPath: /var/lib/deep }]";
  const ended = await run({ name: "links", layer, container, volumes: "[{ name: v, emptyDir: {} }]" });
  expect(ended.log).not.toContain("canary-secret");
  // A mount of the node's own hides what /var leads to, and the container cannot start.
  expect(["Completed", "StartError"]).toContain(ended.reason);
});

test.skipIf(reason)(`no working directory of an image is one of the host ${reason}`, async () => {
  const descriptors = Array.from({ length: 24 }, (_, fd) => `/proc/self/fd/${fd}`);
  const script = `echo RUNS; ${attack}; ls . ../../..${canary}; cat ../../../../../..${canary}/secret; true`;
  let runs = 0;
  for (const [i, WorkingDir] of [canary, "../../../..", "etc", "/proc/1/root", ...descriptors].entries()) {
    const config = { WorkingDir, User: "0:0", Cmd: ["sh", "-c", script] };
    const { log } = await run({ name: `folder-${i}`, config, security: "" });
    expect(log).not.toContain("canary-secret");
    if (log.includes("RUNS")) runs++;
  }
  expect(runs).toBeGreaterThan(0);
});

test.skipIf(reason).for(["4294967296", "18446744073709551616", "root", "a:b:c", "-0", "0x0", "wraps"])(
  `an image that runs as %j is refused where root is ${reason}`,
  async (User) => {
    const layer = [{ name: "etc/passwd", content: "wraps:x:4294967296:0::/:/bin/sh\n" }];
    const ended = await run({ name: "user", layer, config: { User, Cmd: ["id"] } });
    expect(ended.log).toBe("");
    expect(ended.reason).toBe("CreateContainerConfigError");
  },
);
