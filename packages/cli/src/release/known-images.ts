/**
 * What the nodes of `setpoint up` can run: loaded images, those of the catalogue file, the operators of this
 * release, and the catalogue of Setpoint.
 */
import { debianCatalogue, type ImageSource, LoadedImages } from "@setpoint/process-node";
import { imageCacheFolder } from "../cluster/cluster.ts";
import { releaseOperators } from "./release-operators.ts";

export interface KnownImage {
  readonly name: string;
  /** Whether it was loaded or belongs to this release, or the packages that stand for it. */
  readonly source: string;
}

/** A name is listed once, with the source that a node takes. */
export function knownImages(added: Readonly<Record<string, ImageSource>>): readonly KnownImage[] {
  const known = new Map<string, string>();
  for (const { repositories, tags } of debianCatalogue) {
    for (const repository of repositories) {
      for (const [tag, source] of Object.entries(tags)) known.set(`${repository}:${tag}`, packagesOf(source));
    }
  }
  for (const { image } of releaseOperators()) known.set(image, "an operator of this release");
  for (const { name, id, bytes } of new LoadedImages(imageCacheFolder()).list()) {
    known.set(name, `loaded, ${id.slice(0, "sha256:".length + 12)}, ${Math.ceil(bytes / 1024 ** 2)} MB`);
  }
  for (const [name, source] of Object.entries(added)) known.set(name, packagesOf(source));
  const names = [...known.keys()].sort();
  return names.map((name) => ({ name, source: known.get(name) ?? "" }));
}

function packagesOf({ closure }: ImageSource): string {
  return closure === undefined ? "files of this machine" : `Debian ${closure.suite}: ${closure.packages.join(", ")}`;
}
