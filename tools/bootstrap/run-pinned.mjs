// Runs a TypeScript program of this repository with the pinned Node, and ends as it ends.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./install.mjs";

export function runPinned(script, args) {
  const node = join(root, "node_modules", ".bin", "node");
  // Modules without their types, compiled, are kept: they are most of the time until the first line.
  const env = { NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"), ...process.env };
  const flags = ["--conditions=@setpoint/source", `--import=${new URL("slow-load.mjs", import.meta.url)}`];
  const child = spawn(node, [...flags, join(root, script), ...args], { stdio: "inherit", env });
  // At ^C a terminal tells the child itself, of the same process group, but who stops this process alone does
  // not. Not SIGINT: told twice, the child would take it for a second ^C.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
