// Preloaded by run-pinned.mjs: says that the program is being loaded when that takes long.
import { sayWhenLoadIsSlow } from "../../packages/cli/bin/say-slow-load.mjs";

const loaded = sayWhenLoadIsSlow();
// No timer runs before the program is loaded.
setTimeout(loaded, 500).unref();
