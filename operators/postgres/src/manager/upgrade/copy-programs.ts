/**
 * Copies PostgreSQL's programs of this image into a volume, so that they run in a container of another image:
 * pg_upgrade needs those of two major versions. Each comes with its libraries and their loader, because the
 * images may be of different releases of a distribution.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, existsSync, globSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Programs } from "../programs.ts";

const executable = 0o755;
/** Just-in-time compilation needs a large library; without it, queries are interpreted. */
const leftOut = /\/bitcode(\/|$)|\/llvmjit/;
const loaders = ["/lib64/ld-linux-*.so.*", "/lib/ld-linux-*.so.*"];

/** The programs find their other files by the place relative to their own, so each keeps its path. */
export function copyPrograms(target: string): void {
  const programs = Programs.find();
  const [libraries, shared] = ["--pkglibdir", "--sharedir"].map((option) =>
    execFileSync(programs.path("pg_config"), [option], { encoding: "utf8" }).trim(),
  ) as [string, string];
  const filter = (path: string): boolean => !leftOut.test(path);
  for (const folder of [libraries, shared])
    cpSync(folder, join(target, folder), { recursive: true, dereference: true, filter });
  const loader = globSync(loaders)[0];
  if (loader === undefined)
    throw new Error("Cannot copy the programs: found no loader /lib64/ld-linux-*; use an image of Debian 12 or newer");
  mkdirSync(join(target, "lib"), { recursive: true });
  copyExecutable(loader, join(target, "lib", "ld.so"));
  const bin = join(target, programs.folder);
  mkdirSync(bin, { recursive: true });
  const names = globSync(join(programs.folder, "*")).map((each) => basename(each));
  for (const name of names) {
    copyExecutable(programs.path(name), join(bin, `${name}.program`));
    writeFileSync(join(bin, name), starter(target), { mode: executable });
  }
  const modules = globSync(join(libraries, "*.so")).filter(filter);
  for (const file of [...names.map((name) => programs.path(name)), ...modules]) copyLibraries(loader, file, target);
}

/** A program takes its own place from its first argument. */
function starter(target: string): string {
  return `#!/bin/sh\nexec ${target}/lib/ld.so --library-path ${target}/lib --argv0 "$0" "$0.program" "$@"\n`;
}

function copyLibraries(loader: string, file: string, target: string): void {
  for (const path of librariesOf(loader, file)) {
    const copy = join(target, "lib", basename(path));
    if (!existsSync(copy)) copyExecutable(path, copy);
  }
}

/** `libz.so.1 => /lib/x86_64-linux-gnu/libz.so.1 (0x00007f66a0246000)`; a script has none. */
function librariesOf(loader: string, file: string): readonly string[] {
  try {
    const text = execFileSync(loader, ["--list", file], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    return [...text.matchAll(/=> (\/\S+)/g)].map(([, path = ""]) => path);
  } catch {
    return [];
  }
}

function copyExecutable(from: string, to: string): void {
  copyFileSync(from, to);
  chmodSync(to, executable);
}
