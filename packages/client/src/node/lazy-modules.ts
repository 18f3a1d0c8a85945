/**
 * Node's own modules that an operator does not need whole, or not at its start. An `import` reads all that a
 * module exports: of `node:http` that loads Node's fetch, 4.5 MB and 20 ms; of `node:fs` its streams,
 * promises, watchers and a line editor, 1.3 MB and 3 ms. Compression and child processes cost 1 MB each. What
 * is asked for here is loaded once, at the first call.
 */
export const lazyModules = {
  fs: (): typeof import("node:fs") => process.getBuiltinModule("node:fs"),
  http: (): typeof import("node:http") => process.getBuiltinModule("node:http"),
  https: (): typeof import("node:https") => process.getBuiltinModule("node:https"),
  zlib: (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib"),
  childProcess: (): typeof import("node:child_process") => process.getBuiltinModule("node:child_process"),
};
