import { repairStore } from "@setpoint/apiserver/sqlite";
import type { StoreCommand } from "./store-command.ts";

/** `setpoint store repair`: from the store's own copies; `--accept-loss` goes on without what is lost. */
export const repair: StoreCommand = {
  takesFile: false,
  yes: "accept-loss",
  run({ directory, yes }, output) {
    const { outcome, findings, objects, revision, aside } = repairStore(directory, { acceptLoss: yes });
    const state = `${objects} objects, revision ${revision ?? "unknown"}`;
    if (outcome === "sound") {
      output.out(`The store in "${directory}" is sound: ${state}\n`);
      return 0;
    }
    for (const finding of findings) output.out(`${finding}\n`);
    const result = outcome === "repaired" ? "Repaired without a loss" : "Continued without what is listed above";
    output.out(`${result}: ${state}; the old files are in "${aside ?? directory}"\n`);
    return 0;
  },
};
