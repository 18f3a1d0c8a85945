/** The version and the image of the server, of an image of CloudNativePG. */
import type { Report } from "./difference.ts";
import type { Fields } from "./fields.ts";

/** The versions that a PostgresCluster may have. */
export type ServerVersion = "15" | "17";

export interface ServerImage {
  readonly version: ServerVersion;
  /** Absent: the official image of the version. */
  readonly image?: string;
}

/** Images by the name of their catalogue and the major version. */
export type Catalogues = ReadonlyMap<string, ReadonlyMap<number, string>>;

export function catalogueKey(kind: string, name: string): string {
  return `${kind}/${name}`;
}

/** CloudNativePG 1.27 starts PostgreSQL 17 when nothing is given. */
const defaultMajor = 17;
const defaultVersion: ServerVersion = `${defaultMajor}`;

export function serverImage(spec: Fields, catalogues: Catalogues, report: Report): ServerImage {
  const reference = spec.fields("imageCatalogRef");
  if (spec.has("imageCatalogRef")) return ofCatalogue(reference, catalogues, report);
  const image = spec.text("imageName");
  if (image === undefined) return { version: versionOf(defaultMajor, "spec.imageName", report) };
  return ofImage(image, "spec.imageName", report);
}

function ofCatalogue(reference: Fields, catalogues: Catalogues, report: Report): ServerImage {
  const path = "spec.imageCatalogRef";
  const name = reference.requiredText("name");
  const major = reference.number("major") ?? defaultMajor;
  const image = catalogues.get(catalogueKey(reference.text("kind") ?? "ImageCatalog", name))?.get(major);
  if (image !== undefined) return ofImage(image, path, report);
  const version = versionOf(major, path, report);
  const why = `the catalogue is not in the files; the official image of version ${version} is used`;
  report.add(path, "changed", why, "set spec.image to a minor version");
  return { version };
}

/** `ghcr.io/cloudnative-pg/postgresql:17.5-bookworm` becomes the official image of 17.5. */
function ofImage(image: string, path: string, report: Report): ServerImage {
  const [, tag = ""] = /:([^/:]+)$/.exec(image.split("@", 1)[0] ?? "") ?? [];
  const [, major, minor] = /^v?(\d+)(?:\.(\d+))?(?![\d.])/.exec(tag) ?? [];
  if (major === undefined) {
    const why = `"${image}" names no version of PostgreSQL; 17 is written`;
    report.add(path, "byHand", why, "set spec.version, and spec.image where it matters");
    return { version: defaultVersion };
  }
  const version = versionOf(Number(major), path, report);
  const isSame = version === major && minor !== undefined;
  const official = `docker.io/library/postgres:${isSame ? `${major}.${minor}` : version}`;
  const why = `a PostgresCluster needs an image with the user 999, and images of CloudNativePG have 26: ${official} takes the place of "${image}"`;
  report.add(path, "changed", why, imageTodo);
  return { version, ...(isSame ? { image: official } : {}) };
}

const imageTodo = "build an image of it where extensions are missing";

function versionOf(major: number, path: string, report: Report): ServerVersion {
  if (major === 15 || major === 17) return `${major}`;
  const version = major < 15 ? "15" : "17";
  const why = `PostgreSQL ${major} is not offered, only 15 and 17; ${version} is written`;
  if (major > 17) report.add(path, "byHand", why, "try on a copy whether a dump of the newer version restores into 17");
  else report.add(path, "changed", why, "move the data by pg_dump and pg_restore of the version that is written");
  return version;
}
