/** What the init container with the image of the next major version runs: `node copy-main.js TARGET`. */
import { copyPrograms } from "./copy-programs.ts";

const [target = ""] = process.argv.slice(2);
copyPrograms(target);
