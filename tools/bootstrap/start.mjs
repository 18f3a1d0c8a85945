// `npm start`: makes the machine ready, then runs an example on an embedded cluster.
import { installDebianPackages, installNpmPackages, userPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages(process.getuid() === 0 ? [] : userPackages);
runPinned("examples/start.ts", process.argv.slice(2));
