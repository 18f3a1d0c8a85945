/** What a container of a pooler runs: `node manager/pooler/main.js`. */
import { runPoolerManager } from "./run-pooler-manager.ts";

process.exit(await runPoolerManager());
