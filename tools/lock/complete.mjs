// Completes package-lock.json after `npm install`: a registry that lacks builds for other platforms makes npm
// leave these optional packages out, and `npm ci` then refuses the lock. Entries for foreign platforms are
// never fetched.
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../../package-lock.json", import.meta.url);
const lock = JSON.parse(readFileSync(file, "utf8"));
const platforms = [
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "openharmony",
  "sunos",
  "wasm32",
  "win32",
];
let added = 0;

for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (isPresent(path, name)) continue;
    const platform = platforms.find((each) => name.includes(each)) ?? "unknown";
    lock.packages[`node_modules/${name}`] = {
      version,
      dev: true,
      optional: true,
      os: [platform === "linux" ? "unknown" : platform],
      engines: {},
    };
    added++;
  }
}

function isPresent(path, name) {
  return `${path}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages;
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`);
console.log(`package-lock.json: ${added} entries added`);
