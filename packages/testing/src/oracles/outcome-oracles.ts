/** Rules about how a run ends. */
import { differences, type EndState, insideOf, outsideOf } from "./end-state.ts";
import type { Fault } from "../faults/fault.ts";
import type { WorldModel } from "../program-model.ts";
import type { Oracle, RunEnd } from "./oracle.ts";

/**
 * ESR, first half: after the last fault the world settles in time, unless people destroyed what only they can
 * restore.
 */
export const converges: Oracle = {
  name: "converges",
  judge: ({ models }) => ({
    ended({ unsettled, faults }) {
      if (unsettled?.includes("A safety rule was broken") === true) return undefined;
      return isBeyondRepair(models, faults) ? undefined : unsettled;
    },
  }),
};

/** ESR, second half: once settled, no operator writes or reads. */
export const staysQuiet: Oracle = {
  name: "stays quiet",
  judge: () => ({
    ended: ({ loud, quietHours }) =>
      loud.length === 0 ? undefined : `requests in ${quietHours} hours at rest:\n${loud.join("\n")}`,
  }),
};

/** Sieve's differential oracle: the same end as without faults. */
export const sameEnd: Oracle = {
  name: "same end as without faults",
  judge: () => ({ ended: (end) => (end.faults.some(leavesMarks) ? undefined : differenceIn(insideOf, end)) }),
};

/** The same for the data of models, such as systems outside of the cluster: no object shows a lost update. */
export const sameOutside: Oracle = {
  name: "same data outside as without faults",
  judge: () => ({ ended: (end) => (end.faults.some(destroysData) ? undefined : differenceIn(outsideOf, end)) }),
};

/** How a part of the end differs from that of the run without faults. */
function differenceIn(part: (state: EndState) => EndState, end: RunEnd): string | undefined {
  const { reference, unsettled, hasForeignItems } = end;
  if (reference === undefined || unsettled !== undefined || hasForeignItems) return undefined;
  const found = differences(part(end.end.state), part(reference.state), reference.chance);
  return found.length === 0 ? undefined : found.join("\n");
}

/** Nothing is created or deleted that a run without faults does not. */
export const sameWork: Oracle = {
  name: "no work twice",
  judge: () => ({
    ended(end) {
      const { reference, faults, unsettled } = end;
      if (reference === undefined || unsettled !== undefined || faults.some(changesTheWorld)) return undefined;
      // Objects made from a replaced object may have to be recreated, but nothing is to be removed.
      const mayCreate = faults.some(({ kind }) => kind === "E11");
      const more = [...end.end.summary].filter(
        ([key, count]) =>
          !key.includes("/events/") &&
          !(mayCreate && key.startsWith("create ")) &&
          count > (reference.summary.get(key) ?? 0),
      );
      if (more.length === 0) return undefined;
      return more
        .map(([key, count]) => `${key}: ${reference.summary.get(key) ?? 0} times without faults, ${count} times now`)
        .join("\n");
    },
  }),
};

/** The models of operands report no broken rule: no acknowledged data is lost, no majority taken away. */
export const operandsIntact: Oracle = {
  name: "operands intact",
  judge: (view) => ({
    passed() {
      for (const model of view.models) {
        const [violation] = model.violations ?? [];
        if (violation !== undefined) return violation;
      }
      return undefined;
    },
    ended() {
      return view.models.flatMap((model) => model.violations ?? [])[0];
    },
  }),
};

/**
 * Whether more members lost their data than faults destroyed. The others were the operator's doing, which is
 * not excused.
 */
function isBeyondRepair(models: readonly WorldModel[], faults: readonly Fault[]): boolean {
  const destroyed = faults.filter(destroysData).length;
  return models.some(({ beyondRepair: { membersLost } = { membersLost: Infinity } }) => membersLost <= destroyed);
}

function destroysData(fault: Fault): boolean {
  return fault.kind === "E10" || (fault.kind === "E1" && fault.child.resource === "persistentvolumeclaims");
}

/** Whether people or machines changed something that an operator need not, or cannot, restore as it was. */
function changesTheWorld({ kind }: Fault): boolean {
  return kind.startsWith("E") && kind !== "E11";
}

/** A claim in use stays, with its deletion timestamp. */
function leavesMarks(fault: Fault): boolean {
  return fault.kind === "E1" && fault.child.resource === "persistentvolumeclaims";
}
