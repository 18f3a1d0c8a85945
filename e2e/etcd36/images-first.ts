/** Builds and loads the images of etcd once before all test files; prints why when it cannot. */
import { spawnSync } from "node:child_process";
import { builtVersions, missingVersions } from "./built-versions.ts";

const loader = new URL("load-images.ts", import.meta.url).pathname;

export function setup(): void {
  const versions = Object.values(builtVersions);
  if (missingVersions !== "") return console.warn(`skipped: etcd ${versions.join(", ")}: ${missingVersions}`);
  const args = ["--conditions=@setpoint/source", loader, ...versions];
  const { status } = spawnSync(process.execPath, args, { stdio: "inherit" });
  if (status !== 0) throw new Error(`The images of etcd could not be made: ${loader} ended with ${status}`);
}
