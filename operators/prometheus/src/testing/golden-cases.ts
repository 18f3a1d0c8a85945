/** Golden cases: files with objects, and what upstream's operator makes of them. Only tests import this. */
import { readdirSync, readFileSync } from "node:fs";
import { parse } from "yaml";
import { assetPath, Assets } from "../generate/assets.ts";
import { parseVersion, type Version } from "../generate/version.ts";

/** A Secret or a ConfigMap. */
export interface GoldenAsset {
  readonly kind: "Secret" | "ConfigMap";
  readonly metadata: { readonly namespace: string; readonly name: string };
  /** Of a Secret too, in clear. */
  readonly data: Readonly<Record<string, string>>;
}

export function assetsOf(objects: readonly GoldenAsset[] = []): Assets {
  const values = objects.flatMap(({ kind, metadata, data }) =>
    Object.entries(data).map(([key, value]) => [assetPath({ kind, ...metadata, key }), value] as const),
  );
  return new Assets(new Map(values));
}

/** As Prometheus reads YAML. */
export function parseYaml(text: string): unknown {
  return parse(text, { version: "1.1" });
}

/** The names of the files of a folder. */
export function goldenFiles(folder: URL): readonly string[] {
  return readdirSync(folder).filter((name) => name.endsWith(".yaml"));
}

export function readGolden(folder: URL, file: string): unknown {
  return parseYaml(readFileSync(new URL(file, folder), "utf8"));
}

export function versionOf(text: string): Version {
  const version = parseVersion(text);
  if (version === undefined) throw new Error(`no version: ${text}`);
  return version;
}
