/**
 * Measures the embedded control plane, each subject in a process of its own: `npm run bench`, or with names
 * of subjects (`npm run bench -- start writes`). Every row is the minimum, median and maximum of several
 * runs.
 */
import { spawnSync } from "node:child_process";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";

const subjects = ["limits", "start", "memory", "writes", "https", "watch", "rest"];
const chosen = process.argv.slice(2);
const machine = `${availableParallelism()} × ${cpus()[0]?.model ?? "unknown"}`;
console.log(`Node ${process.version}, ${machine}, load ${loadavg()[0]?.toFixed(1)}\n`);
console.log(`${"".padEnd(56)}${["min", "median", "max"].map((each) => each.padStart(10)).join("")}`);
for (const subject of chosen.length === 0 ? subjects : chosen) {
  const file = fileURLToPath(new URL(`./control-plane/${subject}.ts`, import.meta.url));
  const { status } = spawnSync(process.execPath, ["--expose-gc", "--conditions=@setpoint/source", file], {
    stdio: "inherit",
  });
  if (status !== 0) process.exitCode = 1;
}
console.log(`\nload ${loadavg()[0]?.toFixed(1)}`);
