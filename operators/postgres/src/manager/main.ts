/** What a container of PostgreSQL runs: `node manager/main.js INSTANCE`. */
import { runManager } from "./run-manager.ts";

const [name = ""] = process.argv.slice(2);
process.exit(await runManager(name));
