// `npm test`: makes the machine ready, then runs the gate.
import { installDebianPackages, installNpmPackages, userPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages(process.getuid() === 0 ? userPackages : []);
runPinned("tools/gate/run.ts", process.argv.slice(2));
