// `node tools/bootstrap/run.mjs PROGRAM ARG…`: installs the npm packages of a fresh clone, then runs a
// program of theirs. Each npm script that needs them begins with it.
import { installNpmPackages } from "./install.mjs";
import { runProgram } from "./run-pinned.mjs";

const [program = "node", ...args] = process.argv.slice(2);
installNpmPackages();
runProgram(program, args);
