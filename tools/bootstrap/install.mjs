// Makes a fresh machine ready: npm packages of the lock file, and Debian's sandbox tools. Plain JavaScript
// for Node 20, because this runs before the pinned Node is there.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export const root = new URL("../..", import.meta.url).pathname;
const stamp = join(root, "node_modules", ".setpoint-lock");
const debianPackages = [
  { command: "crun", name: "crun" },
  { command: "conmon", name: "conmon" },
  { command: "nft", name: "nftables" },
  { command: "ip", name: "iproute2" },
  { command: "mmdebstrap", name: "mmdebstrap" },
];
/** An ordinary user's cluster maps user IDs with it; tests that run as root start such clusters, too. */
export const userPackages = [{ command: "newuidmap", name: "uidmap" }];

/** Prints one sentence and ends the process. */
export function fail(sentence) {
  console.error(sentence);
  process.exit(1);
}

export function installNpmPackages() {
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  console.log("Installing the npm packages of package-lock.json …");
  const startedMs = Date.now();
  const result = spawnSync("npm", ["ci", "--no-fund", "--no-audit", "--loglevel=error"], {
    cwd: root,
    stdio: "inherit",
  });
  if (result.status !== 0) fail("Cannot install the npm packages: see npm's message above; is the registry reachable?");
  writeFileSync(stamp, lock);
  console.log(`  done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
}

function has(command) {
  // An ordinary user's PATH has no folders of system tools.
  const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };
  return spawnSync("sh", ["-c", `command -v ${command}`], { env }).status === 0;
}

/** Installs what is missing when root; otherwise says what to type. */
export function installDebianPackages(more = []) {
  const missing = [...debianPackages, ...more].filter(({ command }) => !has(command)).map(({ name }) => name);
  if (missing.length === 0) return;
  const hint = `apt-get install --yes ${missing.join(" ")}`;
  const list = `${missing.join(", ")} ${missing.length === 1 ? "is" : "are"} not installed`;
  if (process.platform !== "linux")
    fail(`Cannot run pods as processes on ${process.platform}: the process node needs Linux.`);
  if (process.getuid() !== 0) fail(`Cannot run pods as processes: ${list}; type as root: ${hint}`);
  if (!has("apt-get")) fail(`Cannot run pods as processes: ${list}; install what has them with your package manager`);
  console.log(`Installing Debian's ${missing.join(", ")} …`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = () =>
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing], {
      env,
      stdio: ["ignore", "ignore", "inherit"],
    }).status === 0;
  if (install()) return;
  spawnSync("apt-get", ["update", "-qq"], { env, stdio: ["ignore", "ignore", "inherit"] });
  if (!install()) fail(`Cannot install ${missing.join(", ")}: see apt-get's message above; then type as root: ${hint}`);
}
