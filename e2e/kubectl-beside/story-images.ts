/** The images that the stories' pods run, as archives: the genuine node gets the same ones as ours has. */
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { imageCacheFolder, writeImageArchive } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";

const images = ["busybox:1.36", "busybox:1.37", "nginx:1.27"];

export async function writeStoryImages(directory: string, signal: AbortSignal): Promise<void> {
  const folder = join(directory, "images");
  mkdirSync(folder);
  const catalog = createImageCatalog(debianCatalogue);
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  for (const [i, image] of images.entries()) {
    const { rootDirectory, config } = await store.ensure(image, { signal });
    const reference = `docker.io/library/${image}`;
    await writeImageArchive({ ...config, reference, root: rootDirectory, out: join(folder, `${i}.tar`) });
  }
}

export function storyArchives(directory: string): readonly string[] {
  const folder = join(directory, "images");
  return readdirSync(folder).map((name) => join(folder, name));
}
