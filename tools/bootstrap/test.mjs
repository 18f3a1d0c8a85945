// `npm test`: makes the machine ready, then runs the gate.
import { installDebianPackages, installNpmPackages, testPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages(process.getuid() === 0 ? testPackages : []);
runPinned("tools/gate/run.ts", process.argv.slice(2));
