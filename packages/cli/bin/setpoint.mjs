#!/usr/bin/env node
// The `setpoint` command: in a checkout it runs the sources, as a published package the build. Plain
// JavaScript, so that an old Node gets as far as the sentence that says so.
import { existsSync } from "node:fs";
import * as nodeModule from "node:module";
import { join } from "node:path";

const nodeMajorMin = 24;

if (Number(process.versions.node.split(".")[0]) < nodeMajorMin) {
  process.stderr.write(
    `Cannot run setpoint with Node ${process.version}: it needs Node ${nodeMajorMin} or newer; install it from https://nodejs.org.\n`,
  );
  process.exit(1);
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

const { endWithParent, main } = await import(isCheckout ? "../src/main.ts" : "../dist/main.js");
endWithParent();
process.exitCode = await main(process.argv.slice(2));
