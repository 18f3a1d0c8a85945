/** The files of configMap, secret, downwardAPI and projected volumes. */
import type {
  ConfigMap,
  DownwardAPIVolumeFile,
  KeyToPath,
  Pod,
  Secret,
  ServiceAccountTokenProjection,
  Volume,
  VolumeProjection,
} from "@setpoint/api";
import { isSetpointError } from "@setpoint/apimachinery";
import { nodeError } from "../errors.ts";
import { fieldValue, type PodFacts, resourceValue } from "./downward-api.ts";
import type { FolderContent, FolderFile } from "./atomic-folder.ts";

export interface ContentSources {
  readonly pod: Pod;
  readonly facts: PodFacts;
  find(kind: "ConfigMap" | "Secret", name: string): Promise<ConfigMap | Secret | undefined>;
  token(source: ServiceAccountTokenProjection): Promise<string>;
}

interface DataSource {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

/** Undefined for a volume that is not made of files by the node. */
export async function volumeContent(volume: Volume, sources: ContentSources): Promise<FolderContent | undefined> {
  try {
    return await contentOf(volume, sources);
  } catch (error) {
    if (!isSetpointError(error, "ERR_CONTAINER_CONFIG")) throw error;
    throw nodeError("ERR_CONTAINER_CONFIG", `MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`);
  }
}

async function contentOf(volume: Volume, sources: ContentSources): Promise<FolderContent | undefined> {
  if (volume.configMap !== undefined)
    return dataFiles("ConfigMap", volume.configMap, volume.configMap.defaultMode, sources);
  if (volume.secret !== undefined) {
    const { secretName, ...rest } = volume.secret;
    return dataFiles(
      "Secret",
      { ...rest, ...(secretName === undefined ? {} : { name: secretName }) },
      rest.defaultMode,
      sources,
    );
  }
  if (volume.downwardAPI !== undefined)
    return downwardFiles(volume.downwardAPI.items ?? [], volume.downwardAPI.defaultMode, sources);
  if (volume.projected === undefined) return undefined;
  const { defaultMode } = volume.projected;
  const files = new Map<string, FolderFile>();
  for (const source of volume.projected.sources ?? []) {
    for (const [path, file] of await projectedFiles(source, defaultMode, sources)) files.set(path, file);
  }
  return files;
}

async function projectedFiles(
  source: VolumeProjection,
  mode: number | undefined,
  sources: ContentSources,
): Promise<FolderContent> {
  if (source.configMap !== undefined) return dataFiles("ConfigMap", source.configMap, mode, sources);
  if (source.secret !== undefined) return dataFiles("Secret", source.secret, mode, sources);
  if (source.downwardAPI !== undefined) return downwardFiles(source.downwardAPI.items ?? [], mode, sources);
  if (source.serviceAccountToken === undefined) return new Map();
  const data = await sources.token(source.serviceAccountToken);
  return new Map([[source.serviceAccountToken.path, file(data, mode)]]);
}

async function dataFiles(
  kind: "ConfigMap" | "Secret",
  source: DataSource,
  mode: number | undefined,
  sources: ContentSources,
): Promise<FolderContent> {
  const name = source.name ?? "";
  const object = await sources.find(kind, name);
  if (object === undefined) {
    if (source.optional === true) return new Map();
    throw nodeError("ERR_CONTAINER_CONFIG", `${kind.toLowerCase()} "${name}" not found`);
  }
  const data = decodeData(kind, object);
  const items = source.items ?? [...data.keys()].map((key): KeyToPath => ({ key, path: key }));
  const files = new Map<string, FolderFile>();
  for (const item of items) {
    const value = data.get(item.key);
    if (value !== undefined) files.set(item.path, file(value, item.mode ?? mode));
    else if (source.optional !== true) {
      throw nodeError("ERR_CONTAINER_CONFIG", `references non-existent ${kind.toLowerCase()} key: ${item.key}`);
    }
  }
  return files;
}

/** Key → bytes: a Secret's values are Base64, a ConfigMap's text with Base64 beside it. */
export function decodeData(kind: "ConfigMap" | "Secret", object: ConfigMap | Secret): Map<string, Uint8Array> {
  const encoding = kind === "Secret" ? "base64" : "utf8";
  const entries = Object.entries(object.data ?? {}).map(([key, value]) => [key, Buffer.from(value, encoding)] as const);
  const binaryData = "binaryData" in object ? object.binaryData : undefined;
  const binary = Object.entries(binaryData ?? {}).map(([key, value]) => [key, Buffer.from(value, "base64")] as const);
  return new Map([...entries, ...binary]);
}

function downwardFiles(
  items: readonly DownwardAPIVolumeFile[],
  mode: number | undefined,
  { pod, facts }: ContentSources,
): FolderContent {
  return new Map(
    items.map((item) => {
      const { fieldRef, resourceFieldRef } = item;
      const field = fieldRef === undefined ? "" : fieldValue(pod, facts, fieldRef.fieldPath);
      const value = resourceFieldRef === undefined ? field : resourceValue(pod, facts, "", resourceFieldRef);
      return [item.path, file(value, item.mode ?? mode)];
    }),
  );
}

function file(data: string | Uint8Array, mode: number | undefined): FolderFile {
  return mode === undefined ? { data } : { data, mode };
}
