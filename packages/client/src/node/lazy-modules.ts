/**
 * Node's own modules that an operator does not need, or not at its start. An `import` of `node:http`
 * costs 4.5 MB and 20 ms, because to read what the module exports is to load Node's fetch; compression and child
 * processes cost 1 MB each. What is asked for here is loaded once, at the first call.
 */
export const lazyModules = {
  http: (): typeof import("node:http") => process.getBuiltinModule("node:http"),
  https: (): typeof import("node:https") => process.getBuiltinModule("node:https"),
  zlib: (): typeof import("node:zlib") => process.getBuiltinModule("node:zlib"),
  childProcess: (): typeof import("node:child_process") => process.getBuiltinModule("node:child_process"),
};
