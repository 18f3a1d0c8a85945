/**
 * Where this host gets Debian packages from: the mirror of its own apt sources, else the distribution's
 * default.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const defaultMirror = "http://deb.debian.org/debian";

export function findDebianMirror(aptDirectory: string = "/etc/apt"): string {
  for (const file of sourceFiles(aptDirectory)) {
    const mirror = parseMirror(readText(file));
    if (mirror !== undefined) return mirror;
  }
  return defaultMirror;
}

/**
 * The first archive that offers Debian itself: its path ends in `/debian`, unlike security or third-party
 * archives.
 */
export function parseMirror(text: string): string | undefined {
  const urls = text.split("\n").flatMap((line) => {
    const deb822 = /^URIs:\s*(.*)$/i.exec(line)?.[1];
    const oneLine = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/.exec(line)?.[1];
    return (deb822 ?? oneLine ?? "").split(/\s+/);
  });
  return urls.map((url) => url.replace(/\/$/, "")).find((url) => /^https?:\/\/.*\/debian$/.test(url));
}

function sourceFiles(aptDirectory: string): string[] {
  const folder = join(aptDirectory, "sources.list.d");
  return [
    join(aptDirectory, "sources.list"),
    ...names(folder)
      .sort()
      .map((name) => join(folder, name)),
  ];
}

function names(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
