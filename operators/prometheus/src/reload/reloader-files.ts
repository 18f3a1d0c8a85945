/** The files of a reloader: mounted Secrets and ConfigMaps, and the configuration that the server reads. */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";
import type { Sources } from "./reloader.ts";

export interface Folders {
  /** Of ConfigMaps with rules. */
  readonly rules: readonly string[];
  /** Of files that the configuration names. */
  readonly watched: readonly string[];
}

export async function readSources(config: string, folders: Folders): Promise<Sources> {
  // A server of rules alone has no configuration.
  const compressed = config === "" ? gzipSync("") : await orAbsent(readFile(config));
  const rules = await Promise.all(folders.rules.map(readRules));
  return {
    configuration: compressed === undefined ? undefined : gunzipSync(compressed).toString("utf8"),
    rules: new Map(rules.flat()),
    watched: await digestOf(folders.watched),
  };
}

/** Of the names and bytes of all files. Folders of volumes have links to their present files. */
async function digestOf(folders: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  for (const folder of folders) {
    const names = (await orAbsent(readdir(folder))) ?? [];
    for (const name of names.filter((each) => !each.startsWith("..")).toSorted()) {
      const path = join(folder, name);
      const bytes = await orAbsent(readFile(path));
      hash.update(JSON.stringify([path, bytes?.length ?? -1])).update(bytes ?? "");
    }
  }
  return hash.digest("hex");
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
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "EISDIR"))
      return undefined;
    throw error;
  }
}

/** The server, another user, never sees half a file. */
export async function writeConfiguration(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const part = `${path}.part`;
  await writeFile(part, text, { mode: 0o644 });
  await rename(part, path);
}
