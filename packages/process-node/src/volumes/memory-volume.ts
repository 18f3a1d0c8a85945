/**
 * Folders in memory with a size of their own. Only root can make them; for others the size is looked at now
 * and then.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" };

/** Mounts memory of this size at the folder, unless that is done. */
export function mountMemory(folder: string, bytes: number): void {
  if (process.getuid?.() !== 0 || mountPoints().includes(folder)) return;
  const options = `size=${Math.max(1, Math.floor(bytes))},mode=0777,nosuid,nodev`;
  execFileSync("mount", ["-n", "-t", "tmpfs", "-o", options, "tmpfs", folder], { env, stdio: "pipe" });
}

/** Unmounts everything at or beneath the folder, before it is removed. */
export function unmountBeneath(folder: string): void {
  const points = mountPoints().filter((point) => point === folder || point.startsWith(`${folder}/`));
  for (const point of points.toReversed()) execFileSync("umount", ["-n", "-l", point], { env, stdio: "pipe" });
}

function mountPoints(): readonly string[] {
  const lines = readFileSync("/proc/self/mountinfo", "utf8").trim().split("\n");
  // Blanks and other separators are octal escapes there.
  const unescape = (text: string): string =>
    text.replace(/\\(\d{3})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 8)));
  return lines.map((line) => unescape(line.split(" ")[4] ?? ""));
}
