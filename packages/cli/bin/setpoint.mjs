#!/usr/bin/env node
// The `setpoint` command: in a checkout it runs the sources, as a published package the build. Plain
// JavaScript, so that an old Node gets as far as the sentence that says so.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";
import { sayWhenLoadIsSlow } from "./say-slow-load.mjs";

const nodeMajorMin = 24;
/**
 * For the C library of most Linux systems. By itself it keeps what a load needed for buffers: after 200,000
 * requests an API server had 285 MB in place of 219 MB, with these settings 223 MB. It reads them only at
 * the start of a process.
 */
const allocator = { MALLOC_ARENA_MAX: "2", MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TRIM_THRESHOLD_: "131072" };

if (Number(process.versions.node.split(".")[0]) < nodeMajorMin) {
  process.stderr.write(
    `Cannot run setpoint with Node ${process.version}: it needs Node ${nodeMajorMin} or newer; install it from https://nodejs.org, or for this folder with "npm install node@26".\n`,
  );
  process.exit(1);
}

const isServer = process.argv[2] === "up";
const isFirst = Object.keys(allocator).some((name) => process.env[name] === undefined);
// The same process starts once more: the same ID and parent. A channel to the parent would be lost.
if (process.platform === "linux" && isServer && isFirst && process.channel === undefined) {
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  process.execve?.(process.execPath, args, { ...allocator, ...process.env });
}

const isCheckout = existsSync(new URL("../tsconfig.json", import.meta.url));

if (isCheckout) {
  // Modules without their types, compiled, are kept on disk: they are most of the time until the first line.
  // They are code, so they lie beside the code, with its owner, and not in a folder for everybody's temporary
  // files.
  nodeModule.enableCompileCache(join(import.meta.dirname, "..", "node_modules", ".cache", "node"));
  nodeModule.registerHooks({
    resolve: (specifier, context, next) =>
      next(specifier, { ...context, conditions: [...context.conditions, "@setpoint/source"] }),
  });
}

// What other programs read stays free of it: they start commands that print and end.
const isRead = !process.stderr.isTTY && !["up", "run", "dev", "image"].includes(process.argv[2]);
const isQuiet = process.argv.includes("--quiet") || process.channel !== undefined;
const loaded = isRead || isQuiet ? () => {} : sayWhenLoadIsSlow();
const { endWithParent, main } = await import(isCheckout ? "../src/main.ts" : "../dist/main.js");
loaded();
endWithParent();
process.exitCode = await main(process.argv.slice(2));
