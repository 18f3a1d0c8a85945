/** The shared libraries that this command's Node and the native add-ons of a program need in an image. */
import { spawnSync } from "node:child_process";
import { realpathSync } from "node:fs";
import { SetpointError } from "@setpoint/apimachinery";

/**
 * Absolute paths of the libraries of this Node and of the native add-ons among `files`, each once. Throws
 * `ERR_IMAGE_BUILD` where Node is not one of Linux.
 */
export function sharedLibraries(files: readonly string[]): readonly string[] {
  const addOns = files.filter((path) => path.endsWith(".node"));
  return [...new Set([...librariesOf(realpathSync(process.execPath)), ...addOns.flatMap(librariesOfAddOn)])];
}

/** Those of an add-on for another processor or C library cannot be listed, and this Node does not load it. */
function librariesOfAddOn(path: string): readonly string[] {
  const { status, stdout } = spawnSync("ldd", [path], { encoding: "utf8" });
  return status === 0 ? parseLibraries(stdout) : [];
}

/** Absolute paths of the libraries; throws `ERR_IMAGE_BUILD` where Node is not one of Linux. */
function librariesOf(program: string): readonly string[] {
  if (process.platform !== "linux") {
    const why = `it copies this machine's Node, and ${process.platform} has none for Linux`;
    throw new SetpointError("ERR_IMAGE_BUILD", `Cannot build an image: ${why}; use the project's Dockerfile`);
  }
  const { status, stdout, stderr, error } = spawnSync("ldd", [program], { encoding: "utf8" });
  if (status === 0) return parseLibraries(stdout);
  const why = error?.message ?? stderr.trim();
  throw new SetpointError(
    "ERR_IMAGE_BUILD",
    `Cannot build an image: ldd does not list what "${program}" needs: ${why}`,
  );
}

/**
 * `libm.so.6 => /lib/libm.so.6 (0x…)` and `/lib64/ld-linux-x86-64.so.2 (0x…)`; the kernel's own library has
 * no path.
 */
export function parseLibraries(text: string): readonly string[] {
  const paths = [...text.matchAll(/(\/\S+) \(0x/g)].map(([, path = ""]) => path);
  return [...new Set(paths)];
}
