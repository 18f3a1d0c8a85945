/** The promises about EtcdMirrors. Only tests import this. */
import { Deployment, Event, Pod } from "setpoint/kinds";
import type { EtcdModel, Fault, Oracle, WorldView } from "setpoint/testing";
import { conditionOf } from "setpoint/testing";
import type { Stored } from "setpoint";
import { EtcdMirror } from "../mirror/etcd-mirror.ts";
import { recordPrefix } from "../mirror/key-range.ts";
import { mirrorLabel } from "../mirror/mirror-deployment.ts";
import { parseRecord, recordKeyOf } from "../mirror/mirror-record.ts";
import type { SimulatedMirrors } from "./simulated-mirrors.ts";

/** The models must be those of the same run. */
export function mirrorLaws(etcd: EtcdModel, mirrors: SimulatedMirrors): readonly Oracle[] {
  return [onePodAtATime(mirrors), copiesAreTrue(etcd), nothingIsLeft(etcd)];
}

/**
 * A person who deletes the pod or the Deployment, or takes its label away, does not wait until the pod has
 * stopped.
 */
function onePodAtATime(mirrors: SimulatedMirrors): Oracle {
  return {
    name: "a mirror has one pod at a time",
    judge(view) {
      mirrors.mountsFrom(view);
      return {
        ended: ({ faults }) =>
          faults.some(({ kind }) => kind === "E1" || kind === "E2") ? undefined : mirrors.overlaps[0],
      };
    },
  };
}

/** A user deletes the volume of the only member, or the only copy of the password of root. */
export function isLostForGood(fault: Fault): boolean {
  return fault.kind === "E1" && ["persistentvolumeclaims", "secrets"].includes(fault.child.resource);
}

/** Following: all keys are copied. The status has what the record has. */
function copiesAreTrue(etcd: EtcdModel): Oracle {
  return {
    name: "the status of a mirror is true",
    judge: (view) => ({
      ended({ unsettled, faults }) {
        if (unsettled !== undefined || faults.some(isLostForGood)) return undefined;
        const problems = view.list(EtcdMirror).map((mirror) => statusProblem(mirror, etcd));
        return problems.find((each) => each !== undefined);
      },
    }),
  };
}

function statusProblem(mirror: Stored<EtcdMirror>, etcd: EtcdModel): string | undefined {
  const { metadata, spec, status } = mirror;
  const source = keysOf(etcd, spec.source.cluster ?? "");
  const destination = keysOf(etcd, spec.cluster);
  const record = parseRecord(destination.get(recordKeyOf(metadata.uid)));
  const ready = conditionOf(mirror, "Ready");
  if (ready?.status !== "True") return `the mirror does not follow at rest: ${ready?.reason}: ${ready?.message}`;
  if (status?.phase !== "Following") return `phase is ${status?.phase}, and Ready is True`;
  if (record === undefined) return "the mirror follows, and has no record";
  if (status.revision !== record.revision)
    return `status.revision is ${status.revision}; the record has ${record.revision}`;
  if (status.lagRevisions !== 0) return `status.lagRevisions is ${status.lagRevisions} at rest`;
  return copyProblem(source, destination, spec.prefix);
}

function copyProblem(
  source: ReadonlyMap<string, string>,
  destination: ReadonlyMap<string, string>,
  prefix: string,
): string | undefined {
  const [wanted, copied] = [source, destination].map((keys) =>
    [...keys]
      .filter(([key]) => key.startsWith(prefix) && !key.startsWith(recordPrefix))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  );
  return JSON.stringify(wanted) === JSON.stringify(copied)
    ? undefined
    : `the source has ${JSON.stringify(wanted)}, and the destination ${JSON.stringify(copied)}`;
}

/** A mirror that is gone leaves the keys, and nothing else; an Event reports a record that stays. */
function nothingIsLeft(etcd: EtcdModel): Oracle {
  return {
    name: "a deleted mirror leaves the keys and nothing else",
    judge: (view) => ({
      passed({ what }) {
        const [, key = recordPrefix] = /^etcd delete (\S+)/.exec(what) ?? [];
        return key.startsWith(recordPrefix) ? undefined : `the operator deletes key ${key}`;
      },
      ended({ unsettled, faults }) {
        if (unsettled !== undefined || view.list(EtcdMirror).length > 0) return undefined;
        return objectsLeft(view) ?? keysLeft(etcd, view, faults);
      },
    }),
  };
}

function objectsLeft(view: WorldView): string | undefined {
  const deployments = view.list(Deployment);
  const pods = view.list(Pod).filter(({ metadata }) => metadata.labels?.[mirrorLabel] !== undefined);
  const left = [...deployments, ...pods].map(({ metadata }) => metadata.name);
  return left.length === 0 ? undefined : `these are left: ${left.join(", ")}`;
}

/** A mirror that is deleted while its pod or a cluster is down has not copied the last changes. */
function keysLeft(etcd: EtcdModel, view: WorldView, faults: readonly Fault[]): string | undefined {
  const destination = keysOf(etcd, "orders");
  const record = [...destination.keys()].find((key) => key.startsWith(recordPrefix));
  if (record !== undefined && !view.list(Event).some(({ reason }) => reason === "RecordRetained"))
    return `the record ${record} is left`;
  const isDisturbed = faults.some(({ kind }) => kind.startsWith("E"));
  return isDisturbed ? undefined : copyProblem(keysOf(etcd, "shop"), destination, "/a/");
}

function keysOf(etcd: EtcdModel, cluster: string): ReadonlyMap<string, string> {
  return etcd.members(cluster)[0]?.data.keys ?? new Map();
}
