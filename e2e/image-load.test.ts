/** `setpoint image load`: archives that other tools write become images that pods run. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageCacheFolder } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, ImageStore } from "@setpoint/process-node";
import { runProgram } from "./operator-project.ts";
import { afterAll, expect, test } from "vitest";
import { isReady, missingForPods, TestCluster } from "./node/test-cluster.ts";
import { toolsImage, toolsImageSource } from "./node/tools-image.ts";

const missing = missingForPods();
if (missing !== "") console.warn(`skipped: loaded images in pods: ${missing}`);
const folder = mkdtempSync(join(tmpdir(), "setpoint-image-load-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const bin = new URL("../packages/cli/bin/setpoint.mjs", import.meta.url).pathname;
const image = "registry.example.com/tools:1";

function pod(name: string): string {
  return `{apiVersion: v1, kind: Pod, metadata: {name: ${name}}, spec: {terminationGracePeriodSeconds: 1, containers: [{name: main, image: "${image}"}]}}`;
}

/** A `docker save` of one image, in two layers, as Docker before version 25 writes it. */
async function dockerArchive(): Promise<string> {
  const catalog = createImageCatalog([], { [toolsImage]: toolsImageSource });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  const { rootDirectory } = await store.ensure(toolsImage);
  const files = join(folder, "files");
  const etc = join(folder, "layer", "etc");
  for (const each of [join(files, "a"), join(files, "b"), etc]) mkdirSync(each, { recursive: true });
  writeFileSync(join(etc, "greeting"), "from the second layer\n");
  const layers = [
    tar(rootDirectory, join(files, "a/layer.tar")),
    tar(join(folder, "layer"), join(files, "b/layer.tar")),
  ];
  const config = {
    architecture: process.arch === "x64" ? "amd64" : process.arch,
    os: "linux",
    config: {
      Env: ["PATH=/usr/bin:/bin"],
      Cmd: ["sh", "-c", "cat /etc/greeting; id -u; exec sleep 600"],
      User: "65532:65532",
    },
    rootfs: { type: "layers", diff_ids: layers },
  };
  writeFileSync(join(files, "config.json"), JSON.stringify(config));
  const manifest = [{ Config: "config.json", RepoTags: [image], Layers: ["a/layer.tar", "b/layer.tar"] }];
  writeFileSync(join(files, "manifest.json"), JSON.stringify(manifest));
  const archive = join(folder, "tools.tar.gz");
  expect(spawnSync("tar", ["-czf", archive, "-C", files, "."]).status).toBe(0);
  return archive;
}

async function setpoint(...args: readonly string[]): Promise<string> {
  const { code, text } = await runProgram(process.execPath, [bin, ...args], folder);
  expect(code).toBe(0);
  return text;
}

/** Returns the digest of the tar file. */
function tar(root: string, file: string): string {
  expect(spawnSync("tar", ["-cf", file, "-C", root, "."]).status).toBe(0);
  return `sha256:${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
}

test.skipIf(missing !== "")(
  "a pod whose image is missing names the command that loads it, and runs as the image says once its docker archive is loaded",
  async () => {
    const archive = await dockerArchive();
    process.env["XDG_CACHE_HOME"] = join(folder, "cache");
    await using cluster = await TestCluster.start(1);
    await cluster.apply(pod("web"));
    const waiting = await cluster.pod(
      "web",
      ({ status }) => status.containerStatuses[0]?.state.waiting?.message !== undefined,
    );
    expect(waiting.status.containerStatuses[0]?.state.waiting).toMatchObject({
      reason: "ErrImagePull",
      message: expect.stringContaining('load it with "setpoint image load FILE"'),
    });
    expect(await setpoint("image", "load", archive)).toMatch(
      /^Loaded registry\.example\.com\/tools:1, sha256:[0-9a-f]{64}\n/,
    );
    await cluster.pod("web", isReady, 30);
    expect(await cluster.logs("web")).toBe("from the second layer\n65532\n");
    expect((await cluster.events("web")).join("\n")).toContain("Failed: Failed to pull image");
    expect(await setpoint("image", "list")).toMatch(
      /^registry\.example\.com\/tools:1 +loaded, sha256:[0-9a-f]{12}, \d+ MB$/m,
    );
    await cluster.delete("Pod", "web");
  },
);
