// `npm start`: makes the machine ready, then runs the etcd example on an embedded control plane.
import { installDebianPackages, installNpmPackages, userPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages(process.getuid() === 0 ? [] : userPackages);
runPinned("examples/etcd/start.ts", process.argv.slice(2));
