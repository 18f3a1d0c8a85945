/** The files of a reloader: mounted Secrets and ConfigMaps, and the configuration that Prometheus reads. */
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { Sources } from "./reloader.ts";

export async function readSources(config: string, ruleFolders: readonly string[]): Promise<Sources> {
  const compressed = await orAbsent(readFile(config));
  const rules = await Promise.all(ruleFolders.map(readRules));
  return {
    configuration: compressed === undefined ? undefined : gunzipSync(compressed).toString("utf8"),
    rules: new Map(rules.flat()),
  };
}

/** The files of one ConfigMap; none when it does not exist. */
async function readRules(folder: string): Promise<readonly (readonly [string, string])[]> {
  const names = (await orAbsent(readdir(folder))) ?? [];
  const files = names.filter((name) => name.endsWith(".yaml"));
  return Promise.all(
    files.map(async (name) => [`${basename(folder)}/${name}`, await readFile(join(folder, name), "utf8")] as const),
  );
}

async function orAbsent<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** Prometheus, another user, never sees half a file. */
export async function writeConfiguration(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  await writeFile(part, text, { mode: 0o644 });
  await rename(part, path);
}
