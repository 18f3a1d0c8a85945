/**
 * What this package needs of `node:fs`, which Node has loaded anyway. It is not imported, because an `import` reads everything that
 * a module exports, and that loads Node's streams of files, promises, watchers and a line editor: 1.3 MB.
 */
const fs: typeof import("node:fs") = process.getBuiltinModule("node:fs");

export const existsSync: typeof fs.existsSync = fs.existsSync;
export const readFileSync: typeof fs.readFileSync = fs.readFileSync;
