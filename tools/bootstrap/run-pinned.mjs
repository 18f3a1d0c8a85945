// Runs a TypeScript program of this repository with the pinned Node, and ends as it ends.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./install.mjs";

export function runPinned(script, args) {
  const node = join(root, "node_modules", ".bin", "node");
  // Modules without their types, compiled, are kept: they are most of the time until the first line.
  const env = { NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"), ...process.env };
  const child = spawn(node, ["--conditions=@setpoint/source", join(root, script), ...args], { stdio: "inherit", env });
  // ^C reaches the child too, since it is in the same process group; this process only waits for it.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
