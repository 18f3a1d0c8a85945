/** What both clusters run: one image of busybox, and pods of it that do nothing and end when they should. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Pod } from "@setpoint/api";
import { imageCacheFolder, writeImageArchive } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";
import { toolsImage, toolsImageSource } from "../../e2e/node/tools-image.ts";

export const namespace = "default";

/**
 * The first process of a PID namespace ignores a SIGTERM that it has no handler for, so `sleep` would wait
 * for its grace period. This waits in one process for a line that never comes.
 */
const untilTerminated = "trap 'exit 0' TERM; busybox mkfifo /line; read line <>/line";

export function idlePod(name: string): Pod {
  const command = ["sh", "-c", untilTerminated];
  const main = { name: "main", image: toolsImage, imagePullPolicy: "IfNotPresent", command } as const;
  return Pod({ name, namespace, spec: { containers: [main] } });
}

/** The image as the catalogue that `setpoint up --images` reads; JSON is YAML. */
export function imageCatalogueText(): string {
  const { closure, links, env, command } = toolsImageSource;
  return JSON.stringify({ images: [{ name: toolsImage, ...closure, links, env, command }] });
}

/**
 * What the genuine node's sandboxes run. The reference's own is a Go program; this is as small as the
 * `sleep` with which our node holds the namespace of a pod.
 */
const sandboxImage = "setpoint.local/pause:1";

/** Writes the image, and that of the sandboxes, as archives into `directory/images`. */
export async function writeArchives(directory: string): Promise<void> {
  const images = join(directory, "images");
  mkdirSync(images);
  const catalog = createImageCatalog(debianCatalogue, { [toolsImage]: toolsImageSource });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  const { rootDirectory: root, config } = await store.ensure(toolsImage, { signal: new AbortController().signal });
  await writeImageArchive({ ...config, reference: toolsImage, root, out: join(images, "tools.tar") });
  const entrypoint = ["/usr/bin/sleep", "1000000000"];
  await writeImageArchive({
    ...config,
    entrypoint,
    command: [],
    reference: sandboxImage,
    root,
    out: join(images, "sandbox.tar"),
  });
}
