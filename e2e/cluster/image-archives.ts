/**
 * The images that the example needs, as archives: etcd from the closures that a process node runs, and the
 * operator as `setpoint build etcd` writes it.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findReleaseOperator, imageCacheFolder, writeImageArchive, writeOwnImage } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";

const etcdImages = ["quay.io/coreos/etcd:v3.4.23", "quay.io/coreos/etcd:v3.5.16"];

/** Makes the archives in `directory/images`. */
export async function writeImageArchives(directory: string, signal: AbortSignal): Promise<void> {
  const images = join(directory, "images");
  mkdirSync(images);
  const catalog = createImageCatalog(debianCatalogue);
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  for (const [i, image] of etcdImages.entries()) {
    signal.throwIfAborted();
    const { rootDirectory, config } = await store.ensure(image, { signal });
    await writeImageArchive({ ...config, reference: image, root: rootDirectory, out: join(images, `${i}.tar`) });
  }
  const operator = findReleaseOperator("etcd");
  if (operator === undefined) throw new Error("Cannot write the operator's image: this release has no operator etcd");
  await writeOwnImage(operator, { reference: operator.image, out: join(images, "operator.tar") });
}
