/** From a tag or digest to the manifest of the image for this machine. */
import { isJsonObject, type JsonObject } from "@setpoint/apimachinery";
import { digestOf } from "../oci/byte-streams.ts";
import { digestIn, isDigest, listIn, objectIn, parseJson } from "../oci/document.ts";
import { platformOf } from "../oci/image-config.ts";
import type { ArchiveLimits } from "../oci/limits.ts";
import { pullRefusal } from "./pull-refusal.ts";
import { readBody } from "./read-body.ts";
import type { RegistrySession } from "./registry-session.ts";

/** What a manifest says of a blob: it must come out so. */
export interface Descriptor {
  readonly digest: string;
  readonly size: number;
}

export interface ResolvedImage {
  /** As the registry sent it. */
  readonly manifest: Buffer;
  readonly manifestDigest: string;
  /** Of the index that led to it; absent when there is none. */
  readonly indexDigest?: string;
  readonly config: Descriptor;
  readonly layers: readonly Descriptor[];
}

const accepted = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
];
const nestingMax = 4;

/** `reference` is a tag or a digest. */
export async function resolveImage(
  session: RegistrySession,
  reference: string,
  platform: string,
  limits: ArchiveLimits,
): Promise<ResolvedImage> {
  let next = reference;
  let indexDigest: string | undefined;
  for (let depth = 0; depth <= nestingMax; depth++) {
    const manifest = await fetchManifest(session, next, limits);
    const manifestDigest = digestOf(manifest);
    const document = objectIn(parseJson(manifest, "manifest"), "manifest");
    if (!Array.isArray(document["manifests"])) {
      const index = indexDigest === undefined ? {} : { indexDigest };
      return { manifest, manifestDigest, ...index, ...partsOf(document, limits) };
    }
    indexDigest ??= manifestDigest;
    next = forPlatform(listIn(document, "manifests", "index", limits.documentsMax), platform);
  }
  throw pullRefusal(`expected at most ${nestingMax} indexes inside each other`);
}

async function fetchManifest(session: RegistrySession, reference: string, limits: ArchiveLimits): Promise<Buffer> {
  const response = await session.get(`manifests/${reference}`, accepted);
  const manifest = await readBody(response, limits.documentBytesMax, "manifest");
  const found = digestOf(manifest);
  if (isDigest(reference) && found !== reference)
    throw pullRefusal(`the manifest is damaged: expected ${reference}, got ${found}`);
  return manifest;
}

function partsOf(manifest: JsonObject, limits: ArchiveLimits): Pick<ResolvedImage, "config" | "layers"> {
  if (manifest["config"] === undefined) throw pullRefusal("expected an OCI or Docker (schema 2) manifest");
  const layers = listIn(manifest, "layers", "manifest", limits.layersMax);
  const found = layers.map((layer, i) => descriptorOf(layer, `layers[${i}]`, limits.layerBytesMax));
  const bytes = found.reduce((sum, { size }) => sum + size, 0);
  if (bytes > limits.bytesMax) throw pullRefusal(`layers have ${bytes} bytes: expected at most ${limits.bytesMax}`);
  return { config: descriptorOf(manifest["config"], "config", limits.documentBytesMax), layers: found };
}

function descriptorOf(value: unknown, where: string, sizeMax: number): Descriptor {
  const descriptor = objectIn(value, where);
  const { size } = descriptor;
  if (typeof size !== "number" || !Number.isSafeInteger(size) || size < 0 || size > sizeMax)
    throw pullRefusal(`${where}.size is ${JSON.stringify(size)}: expected a number of at most ${sizeMax} bytes`);
  return { digest: digestIn(descriptor, "digest", where), size };
}

/** The digest of the first manifest for the platform. */
function forPlatform(descriptors: readonly unknown[], platform: string): string {
  const found = descriptors.filter(isJsonObject);
  const match = found.find((each) => isJsonObject(each["platform"]) && platformOf(each["platform"]) === platform);
  if (match !== undefined) return digestIn(match, "digest", "index");
  const others = found.flatMap(({ platform: each }) => (isJsonObject(each) ? [platformOf(each)] : []));
  const shown = [...new Set(others)].filter((each) => !each.startsWith("unknown")).slice(0, 20);
  throw pullRefusal(`expected an image for ${platform}, got ${shown.join(", ") || "none"}`);
}
