// `npm start`: makes the machine ready, then runs the etcd example on an embedded control plane.
import { installDebianPackages, installNpmPackages } from "./install.mjs";
import { runPinned } from "./run-pinned.mjs";

installNpmPackages();
installDebianPackages();
runPinned("examples/etcd/start.ts", process.argv.slice(2));
