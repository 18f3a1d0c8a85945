/** All forbidden acts, in the order of reports. */
import type { Act } from "./act.ts";
import { apiActs } from "./api-acts.ts";
import { fileActs } from "./file-acts.ts";
import { kernelActs } from "./kernel-acts.ts";
import { limitActs } from "./limit-acts.ts";
import { networkActs } from "./network-acts.ts";
import { rightsActs } from "./rights-acts.ts";

export const catalogue: readonly Act[] = [
  ...apiActs,
  ...rightsActs,
  ...fileActs,
  ...kernelActs,
  ...networkActs,
  ...limitActs,
];

const byName: ReadonlyMap<string, Act> = new Map(catalogue.map((each) => [each.name, each]));

export function findAct(name: string): Act | undefined {
  return byName.get(name);
}
