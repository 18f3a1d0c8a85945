/**
 * The file with which users extend the catalogue: names of images, and the Debian packages that stand for
 * them.
 */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import { canonicalImageName, isImageName } from "./image-reference.ts";
import type { ImageSource } from "./image.ts";

const entriesMax = 1_000;
const fields = [
  ...["name", "suite", "packages", "version", "links", "env"],
  ...["entrypoint", "command", "workingDirectory", "user"],
];
/** As in Debian's policy; nothing that a command would take for an option. */
const packagePattern = /^[a-z0-9][a-z0-9+.-]+$/;
const suitePattern = /^[a-z][a-z0-9-]*$/;

/** Reads `{ images: […] }`; throws ERR_IMAGE_CATALOGUE with the path of the field that is wrong. */
export function parseImageCatalogue(value: unknown): Readonly<Record<string, ImageSource>> {
  const file = objectAt(value, "");
  refuseUnknown(file, ["images"], "");
  const images = file["images"];
  if (!Array.isArray(images)) throw invalid("images", "expected a list of images");
  if (images.length > entriesMax)
    throw invalid("images", `expected at most ${entriesMax} images, got ${images.length}`);
  const catalogue: Record<string, ImageSource> = {};
  for (const [i, each] of images.entries()) {
    const image = objectAt(each, `images[${i}]`);
    const name = imageName(image, `images[${i}]`);
    if (Object.hasOwn(catalogue, name)) throw invalid(`images[${i}].name`, `"${name}" is there twice`);
    catalogue[name] = imageSource(image, `images[${i}]`);
  }
  return catalogue;
}

function imageSource(image: JsonObject, at: string): ImageSource {
  refuseUnknown(image, fields, at);
  const suite = textAt(image["suite"], `${at}.suite`);
  if (!suitePattern.test(suite)) throw invalid(`${at}.suite`, `expected a Debian suite such as trixie, got "${suite}"`);
  const optional = (field: string): string | undefined =>
    image[field] === undefined ? undefined : textAt(image[field], `${at}.${field}`);
  return withoutUndefined({
    closure: { suite, packages: packagesOf(image, at) },
    version: versionOf(image, at),
    links: textsByName(image["links"], `${at}.links`),
    env: textsByName(image["env"], `${at}.env`),
    entrypoint: textList(image["entrypoint"], `${at}.entrypoint`),
    command: textList(image["command"], `${at}.command`),
    workingDirectory: optional("workingDirectory"),
    user: optional("user"),
  });
}

function imageName(image: JsonObject, at: string): string {
  const name = textAt(image["name"], `${at}.name`);
  if (isImageName(name)) return canonicalImageName(name);
  throw invalid(`${at}.name`, `expected the name of an image such as registry.example.com/tools:1, got "${name}"`);
}

function packagesOf(image: JsonObject, at: string): readonly string[] {
  const packages = textList(image["packages"], `${at}.packages`) ?? [];
  if (packages.length === 0) throw invalid(`${at}.packages`, "expected a list of Debian packages");
  const wrong = packages.findIndex((name) => !packagePattern.test(name));
  if (wrong === -1) return packages;
  throw invalid(`${at}.packages[${wrong}]`, `expected the name of a Debian package, got "${packages[wrong]}"`);
}

function versionOf(image: JsonObject, at: string): ImageSource["version"] {
  if (image["version"] === undefined) return undefined;
  const version = objectAt(image["version"], `${at}.version`);
  refuseUnknown(version, ["package", "upstream"], `${at}.version`);
  const text = (field: string): string => textAt(version[field], `${at}.version.${field}`);
  return { package: text("package"), upstream: text("upstream") };
}

function textsByName(value: unknown, at: string): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return undefined;
  const entries = Object.entries(objectAt(value, at));
  return Object.fromEntries(entries.map(([name, each]) => [name, textAt(each, `${at}["${name}"]`)]));
}

function textList(value: unknown, at: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw invalid(at, "expected a list of texts");
  return value.map((each, i) => textAt(each, `${at}[${i}]`));
}

function textAt(value: unknown, at: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw invalid(at, `expected a text, got ${value === undefined ? "nothing" : JSON.stringify(value)}`);
}

function objectAt(value: unknown, at: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw invalid(at, "expected an object");
}

function refuseUnknown(object: JsonObject, known: readonly string[], at: string): void {
  const field = Object.keys(object).find((each) => !known.includes(each));
  if (field === undefined) return;
  throw invalid(at === "" ? field : `${at}.${field}`, `no such field; expected ${known.join(", ")}`);
}

/** A field that the file leaves out is absent, not undefined. */
function withoutUndefined(source: { readonly [F in keyof ImageSource]: ImageSource[F] | undefined }): ImageSource {
  return Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined),
  ) as unknown as ImageSource;
}

function invalid(at: string, why: string): Error {
  return nodeError("ERR_IMAGE_CATALOGUE", `Cannot use the image catalogue: ${at === "" ? "" : `${at}: `}${why}`);
}
