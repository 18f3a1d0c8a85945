// Runs a program of this repository, and ends as it ends.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { root } from "./install.mjs";

/** A TypeScript program, with the pinned Node. */
export function runPinned(script, args) {
  const node = join(root, "node_modules", ".bin", "node");
  // Modules without their types, compiled, are kept: they are most of the time until the first line.
  const env = { NODE_COMPILE_CACHE: join(root, "node_modules", ".cache", "node"), ...process.env };
  const flags = ["--conditions=@setpoint/source", `--import=${new URL("slow-load.mjs", import.meta.url)}`];
  runProgram(node, [...flags, join(root, script), ...args], env);
}

/** A program of the PATH, which begins with those of the npm packages when npm runs a script. */
export function runProgram(program, args, env = process.env) {
  const child = spawn(program, args, { stdio: "inherit", env });
  // At ^C a terminal tells the child itself, of the same process group, but who stops this process alone does
  // not. Not SIGINT: told twice, the child would take it for a second ^C.
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => process.exit(code ?? (signal === "SIGINT" ? 130 : 143)));
}
