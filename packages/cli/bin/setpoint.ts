#!/usr/bin/env -S node --conditions=@setpoint/source
import { main } from "../src/main.ts";

process.exitCode = await main(process.argv.slice(2));
