#!/usr/bin/env -S node --conditions=@setpoint/source
import { enableCompileCache } from "node:module";

// Modules without their types, compiled, are kept on disk: they are most of the time until the first line.
enableCompileCache();
const { main } = await import("../src/main.ts");
process.exitCode = await main(process.argv.slice(2));
