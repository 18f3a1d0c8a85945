import { bounded, declaredRights, keepsSecrets, oneWriter, ownNamespaces } from "./bound-oracles.ts";
import type { Oracle } from "./oracle.ts";
import { converges, operandsIntact, sameEnd, sameOutside, sameWork, staysQuiet } from "./outcome-oracles.ts";
import { deletesByUid, foreignFields, honestStatus, nothingAfterCleanup, singleController } from "./safety-oracles.ts";

/**
 * The rules for every operator. Leave one out by its name:
 * `allOracles.filter(({ name }) => name !== "no work twice")`.
 */
export const allOracles: readonly Oracle[] = [
  converges,
  staysQuiet,
  sameEnd,
  sameOutside,
  sameWork,
  operandsIntact,
  deletesByUid,
  singleController,
  nothingAfterCleanup,
  foreignFields,
  honestStatus,
  bounded,
  declaredRights,
  ownNamespaces,
  oneWriter,
  keepsSecrets,
];
