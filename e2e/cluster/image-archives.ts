/**
 * The images that a tour needs, as archives: those of what it operates from the closures that a process node
 * runs, and the operator as `setpoint build` writes it.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findReleaseOperator, imageCacheFolder, writeImageArchive, writeOwnImage } from "@setpoint/cli";
import { silentLogger } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, debianCatalogue, ImageStore } from "@setpoint/process-node";

const operatedImages = {
  etcd: ["quay.io/coreos/etcd:v3.4.23", "quay.io/coreos/etcd:v3.5.16"],
  postgres: ["docker.io/library/postgres:15"],
  prometheus: [
    "quay.io/prometheus/prometheus:v2.53.3",
    "quay.io/prometheus/alertmanager:v0.28.1",
    "docker.io/library/busybox:1.36",
  ],
  "compliance-probe": [],
} as const;

/** The operators that have a tour on a genuine cluster. */
export type TouredOperator = keyof typeof operatedImages;

export const touredOperators: readonly string[] = Object.keys(operatedImages);

export function isToured(name: string): name is TouredOperator {
  return Object.hasOwn(operatedImages, name);
}

/** Makes the archives in `directory/images`. */
export async function writeImageArchives(name: TouredOperator, directory: string, signal: AbortSignal): Promise<void> {
  const images = join(directory, "images");
  mkdirSync(images);
  const catalog = createImageCatalog(debianCatalogue);
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: imageCacheFolder(), catalog });
  for (const [i, image] of operatedImages[name].entries()) {
    signal.throwIfAborted();
    const { rootDirectory, config } = await store.ensure(image, { signal });
    await writeImageArchive({ ...config, reference: image, root: rootDirectory, out: join(images, `${i}.tar`) });
  }
  const operator = findReleaseOperator(name);
  if (operator === undefined)
    throw new Error(`Cannot write the operator's image: this release has no operator ${name}`);
  await writeOwnImage(operator, { reference: operator.image, out: join(images, "operator.tar") });
}
