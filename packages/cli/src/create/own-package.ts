import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isJsonObject } from "@setpoint/apimachinery";
import { ownVersion } from "../own-version.ts";

/**
 * Where this command runs from: the npm package `setpoint`, or the sources of a checkout of the repository.
 */
export type Origin = "package" | "checkout";

/** The npm package holds compiled modules; a checkout runs its sources. */
export function ownOrigin(): Origin {
  return import.meta.url.endsWith(".ts") ? "checkout" : "package";
}

/**
 * What the `package.json` of a project in `directory` says for `setpoint`: the tarball that this command was
 * installed from, or the version, which the registry has.
 */
export function ownSpecifier(directory: string): string {
  const tarball = ownTarball();
  return tarball === undefined ? `^${ownVersion()}` : `file:${relative(resolve(directory), tarball)}`;
}

/** npm notes in `node_modules/.package-lock.json` where each package came from. */
function ownTarball(): string | undefined {
  const modules = dirname(fileURLToPath(new URL("../../../../", import.meta.url)));
  const lock = join(modules, ".package-lock.json");
  if (basename(modules) !== "node_modules" || !existsSync(lock)) return undefined;
  const resolved = resolvedOf(readFileSync(lock, "utf8"));
  return resolved?.startsWith("file:") === true ? resolve(dirname(modules), resolved.slice("file:".length)) : undefined;
}

function resolvedOf(text: string): string | undefined {
  const lock: unknown = JSON.parse(text);
  const packages = isJsonObject(lock) ? lock["packages"] : undefined;
  const own = isJsonObject(packages) ? packages["node_modules/setpoint"] : undefined;
  const resolved = isJsonObject(own) ? own["resolved"] : undefined;
  return typeof resolved === "string" ? resolved : undefined;
}
