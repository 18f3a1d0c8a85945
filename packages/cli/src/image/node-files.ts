/** The Node that runs this command, and the shared libraries that it needs, as files of an image. */
import { spawnSync } from "node:child_process";
import { SetpointError } from "@setpoint/apimachinery";

/** Absolute paths of the libraries; throws `ERR_IMAGE_BUILD` where Node is not one of Linux. */
export function librariesOf(program: string): readonly string[] {
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
