// `npm test`: makes the machine ready, then runs the gate.
import { installDebianPackages, installNpmPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages();
runPinned("tools/gate/run.ts", process.argv.slice(2));
