/** Images of a genuine registry: pods pull them with their secrets, and run them as they say. */
import { createHash } from "node:crypto";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { imageCacheFolder } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, ImageStore } from "@setpoint/process-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster } from "./node/test-cluster.ts";
import { toolsImage, toolsImageSource } from "./node/tools-image.ts";
import { GenuineRegistry, type RegistryLogin } from "./registry/genuine-registry.ts";
import { password, username } from "./registry/token-server.ts";

const missing = missingForPods();
if (missing !== "") console.warn(`skipped: images of a registry: ${missing}`);
const folder = mkdtempSync(join(tmpdir(), "setpoint-registry-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const types = {
  oci: {
    index: "application/vnd.oci.image.index.v1+json",
    manifest: "application/vnd.oci.image.manifest.v1+json",
    config: "application/vnd.oci.image.config.v1+json",
    layer: "application/vnd.oci.image.layer.v1.tar+gzip",
  },
  docker: {
    index: "application/vnd.docker.distribution.manifest.list.v2+json",
    manifest: "application/vnd.docker.distribution.manifest.v2+json",
    config: "application/vnd.docker.container.image.v1+json",
    layer: "application/vnd.docker.image.rootfs.diff.tar.gzip",
  },
} as const;

const script = "trap 'echo quit; exit 3' QUIT; echo $TASTE; id -u; pwd; while :; do sleep 0.1; done";
const platform = { architecture: process.arch === "x64" ? "amd64" : process.arch, os: "linux" };
let layer: Buffer;

beforeAll(async () => {
  if (missing !== "") return;
  const catalog = createImageCatalog([], { [toolsImage]: toolsImageSource });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  const { rootDirectory } = await store.ensure(toolsImage);
  expect(spawnSync("tar", ["-cf", join(folder, "layer.tar"), "-C", rootDirectory, "."]).status).toBe(0);
  layer = readFileSync(join(folder, "layer.tar"));
});

/** An image for two platforms, the other of which nobody has made. Returns the digest of its index. */
async function push(
  registry: GenuineRegistry,
  repository: string,
  tag: string,
  kind: keyof typeof types,
): Promise<string> {
  const { index, manifest, ...parts } = types[kind];
  const diffId = `sha256:${createHash("sha256").update(layer).digest("hex")}`;
  const config = {
    ...platform,
    config: {
      ...{ User: "1234", Env: ["PATH=/usr/bin:/bin", "TASTE=sweet"], WorkingDir: "/usr", StopSignal: "SIGQUIT" },
      ...{ Entrypoint: ["sh"], Cmd: ["-c", script] },
    },
    rootfs: { type: "layers", diff_ids: [diffId] },
  };
  const described = async (
    mediaType: string,
    content: Buffer,
    to?: { tag: string; type: string },
  ): Promise<object> => ({
    ...{ mediaType, size: content.length, digest: await registry.push(repository, content, to) },
  });
  const image = {
    ...{ schemaVersion: 2, mediaType: manifest },
    config: await described(parts.config, Buffer.from(JSON.stringify(config))),
    layers: [await described(parts.layer, gzipSync(layer))],
  };
  const own = await described(manifest, Buffer.from(JSON.stringify(image)), { tag: "own", type: manifest });
  const manifests = [{ ...own, platform }];
  const list = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: index, manifests }));
  return registry.push(repository, list, { tag, type: index });
}

function pod(name: string, image: string): string {
  return `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {imagePullSecrets: [{name: pull}], containers: [{name: main, image: "${image}"}]}}`;
}

function pullSecret(registry: string): string {
  const auths = { [registry]: { auth: Buffer.from(`${username}:${password}`).toString("base64") } };
  const data = { ".dockerconfigjson": Buffer.from(JSON.stringify({ auths })).toString("base64") };
  return JSON.stringify({
    ...{ apiVersion: "v1", kind: "Secret", metadata: { name: "pull" } },
    ...{ type: "kubernetes.io/dockerconfigjson", data },
  });
}

test.skipIf(missing !== "").each<[RegistryLogin, keyof typeof types]>([
  ["none", "oci"],
  ["basic", "docker"],
  ["token", "oci"],
])("a pod pulls its image from a registry with login %s as %s images, and runs as it says", async (login, kind) => {
  process.env["XDG_CACHE_HOME"] = join(folder, login);
  await using registry = await GenuineRegistry.start(login);
  const image = `${registry.name}/shop/candy`;
  const digest = await push(registry, "shop/candy", "1.2", kind);
  await using cluster = await TestCluster.start(1);
  await cluster.apply(pod("web", `${image}:1.2`));
  if (login !== "none") {
    const denied = await cluster.pod(
      "web",
      ({ status }) => status.containerStatuses[0]?.state.waiting?.message !== undefined,
    );
    expect(denied.status.containerStatuses[0]?.state.waiting?.message).toContain("name a Secret in imagePullSecrets");
  }
  await cluster.apply(pullSecret(registry.name));
  const { status } = await cluster.pod("web", isReady, 40);
  expect(status.containerStatuses[0]).toMatchObject({ image: `${image}:1.2`, imageID: `${image}@${digest}` });
  expect(await cluster.logs("web")).toBe("sweet\n1234\n/usr\n");
  const events = (await cluster.events("web")).join("\n");
  expect(events).toMatch(
    /Pulled: Successfully pulled image ".*" in [\d.]+m?s \(.* including waiting\)\. Image size: \d+ bytes\./,
  );
  expect(events).not.toMatch(/sesame|Basic |Bearer /);
  const output = await stopped(cluster, "web");
  expect(output).toBe("sweet\n1234\n/usr\nquit\n");
  await cluster.apply(pod("pinned", `${image}@${digest}`));
  await cluster.pod("pinned", isReady);
  expect((await cluster.events("pinned")).join("\n")).toContain("Pulled: ");
});

/** Deletes the pod. Returns its output to the end. */
async function stopped(cluster: TestCluster, name: string): Promise<string> {
  const output = cluster.logs(name, { follow: "true" });
  await cluster.delete("Pod", name);
  return output;
}
