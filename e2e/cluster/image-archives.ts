/**
 * The images that the example needs, as archives: the same closures and the same build that a process node
 * runs.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { imageCacheFolder, writeImageArchive } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";
import { buildOperatorImage, operatorImage } from "../../tools/image/operator-image.ts";

const etcdImages = ["quay.io/coreos/etcd:v3.4.23", "quay.io/coreos/etcd:v3.5.16"];

/** Makes the archives in `directory/images`. */
export async function writeImageArchives(directory: string, signal: AbortSignal): Promise<void> {
  const images = join(directory, "images");
  mkdirSync(images);
  const catalog = createImageCatalog(debianCatalogue, {
    [operatorImage]: buildOperatorImage(join(directory, "build")),
  });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  for (const [i, image] of [...etcdImages, operatorImage].entries()) {
    signal.throwIfAborted();
    const { rootDirectory, config } = await store.ensure(image, signal);
    await writeImageArchive({ ...config, reference: image, root: rootDirectory, out: join(images, `${i}.tar`) });
  }
}
