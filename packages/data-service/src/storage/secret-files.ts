/** Secrets as the kubelet mounts them: a file a key. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { TransferError } from "../engine/transfer-error.ts";

/** A Secret holds at most 1 MiB. */
const secretBytesMax = 1 << 20;

/** The bytes of one key; undefined when the Secret has no such key. */
export function readSecretFile(folder: string, key: string): Buffer | undefined {
  try {
    return readFileSync(join(folder, key));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw new TransferError("StoreRefused", `Cannot read the key "${key}" of a mounted Secret`, { cause });
  }
}

/** One key as text without white space around it. Throws `StoreRefused` when it is missing. */
export function secretText(folder: string, key: string): string {
  const bytes = readSecretFile(folder, key);
  if (bytes === undefined)
    throw new TransferError("StoreRefused", `The credentials Secret of the store has no key "${key}". Add it.`);
  return bytes.toString("utf8").trim();
}

/** All values of a mounted Secret; none when nothing is mounted. */
export function secretValues(folder: string): readonly Buffer[] {
  return namesIn(folder)
    .filter((name) => !name.startsWith("."))
    .map((name) => readSecretFile(folder, name))
    .filter((bytes) => bytes !== undefined && bytes.length <= secretBytesMax) as readonly Buffer[];
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
