import { watch } from "node:fs";
import { sep } from "node:path";
import type { Clock, Timer } from "@setpoint/host";

/** Editors write a file in several steps; after so much silence it is whole. */
const settleMs = 100;
/** Whatever is below these is nobody's source. */
const ignored = /^(node_modules|dist|\..+)$/;
/** Sources of modules, and what engines render. */
const sources = /\.([cm]?[jt]s|json|ya?ml|tpl|cue|jsonnet|libsonnet)$/;

/** Calls back when a source below a folder was saved. */
export function watchFolder(folder: string, clock: Clock, onSave: () => void): Disposable {
  let timer: Timer | undefined;
  const watcher = watch(folder, { recursive: true }, (_, file) => {
    if (file === null || file.split(sep).some((part) => ignored.test(part)) || !sources.test(file)) return;
    timer?.cancel();
    timer = clock.setTimer(onSave, settleMs);
  });
  return {
    [Symbol.dispose](): void {
      timer?.cancel();
      watcher.close();
    },
  };
}
