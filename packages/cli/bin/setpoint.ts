#!/usr/bin/env -S node --conditions=@setpoint/source
import { enableCompileCache } from "node:module";
import { join } from "node:path";

// Modules without their types, compiled, are kept on disk: they are most of the time until the first line. They are code, so
// they lie beside the code, with its owner, and not in a folder for everybody's temporary files.
enableCompileCache(join(import.meta.dirname, "..", "node_modules", ".cache", "node"));
const { main } = await import("../src/main.ts");
process.exitCode = await main(process.argv.slice(2));
