import { checkStore } from "@setpoint/apiserver/sqlite";
import type { StoreCommand } from "./store-command.ts";

/** `setpoint store check`: exit code 1 and a line a finding when the store is damaged. */
export const check: StoreCommand = {
  takesFile: false,
  run({ directory }, output) {
    const { findings, notes, objects, revision } = checkStore(directory);
    for (const note of notes) output.out(`${note}\n`);
    for (const finding of findings) output.out(`${finding}\n`);
    const state = `${objects} objects${revision === undefined ? "" : `, revision ${revision}`}`;
    if (findings.length === 0) output.out(`The store in "${directory}" is sound: ${state}\n`);
    else output.out(`The store in "${directory}" is damaged: ${findings.length} findings\n`);
    return findings.length === 0 ? 0 : 1;
  },
};
