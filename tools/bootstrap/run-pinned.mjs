// Runs a TypeScript program of this repository with the pinned Node, and ends as it ends.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./install.mjs";

export function runPinned(script, args) {
  const node = join(root, "node_modules", ".bin", "node");
  const child = spawn(node, ["--conditions=@setpoint/source", join(root, script), ...args], { stdio: "inherit" });
  // ^C reaches the child too, since it is in the same process group; this process only waits for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
