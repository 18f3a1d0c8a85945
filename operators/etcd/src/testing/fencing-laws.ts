/** The promises about members that a user keeps stopped (decisions/0033). Only tests import this. */
import type { Stored } from "setpoint";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import type { EtcdMember, EtcdModel, Hop, Oracle, WorldView } from "setpoint/testing";
import type { EtcdCluster } from "../kind/etcd-cluster.ts";
import { EtcdCluster as Clusters } from "../kind/etcd-cluster.ts";

/** The model of etcd must be that of the same run. */
export function fencingLaws(etcd: EtcdModel): readonly Oracle[] {
  return [fencedMembersAreKept(etcd), acceptedMembersStayFenced(), quorumNeedsConsent(etcd), fencedAsTheSpecSays(etcd)];
}

/** The operator deletes no volume of a fenced member, and removes no fenced member from etcd. */
function fencedMembersAreKept(etcd: EtcdModel): Oracle {
  return {
    name: "a fenced member keeps its volume and its membership",
    judge(view) {
      const names = new Map<string, string>();
      return {
        passed(hop) {
          const found = isOperators(hop, view) ? takenFrom(hop, names) : undefined;
          // The names of removed members are those from before the call.
          for (const { id, name } of newest(etcd)?.data.members.values() ?? []) names.set(id, name);
          return found !== undefined && fencedNames(view).includes(found.member) ? found.sentence : undefined;
        },
      };
    },
  };
}

/** A member that was accepted starts only after its user has released it. */
function acceptedMembersStayFenced(): Oracle {
  return {
    name: "a member that was fenced stays fenced",
    judge(view) {
      let accepted = new Set<string>();
      return {
        passed(hop) {
          const wanted = new Set(view.list(Clusters).flatMap(({ spec }) => spec.fencing?.members ?? []));
          accepted = new Set([...accepted, ...fencedNames(view)]).intersection(wanted);
          const [, started = ""] = isOperators(hop, view) ? (/^POST \S+\/pods\/(\S+)/.exec(hop.what) ?? []) : [];
          return accepted.has(started) ? `fenced member ${started} was started: ${hop.what}` : undefined;
        },
      };
    },
  };
}

function isOperators({ kind, who, status = 0 }: Hop, view: WorldView): boolean {
  return kind === "write" && view.operators.includes(who) && status < 400;
}

/** The member that this request takes something from. */
function takenFrom(
  { what }: Hop,
  names: ReadonlyMap<string, string>,
): { readonly member: string; readonly sentence: string } | undefined {
  const [, claimed] = /^DELETE \S+\/persistentvolumeclaims\/data-(\S+)/.exec(what) ?? [];
  if (claimed !== undefined)
    return { member: claimed, sentence: `the volume of fenced member ${claimed} was deleted: ${what}` };
  const [, id] = /^etcd remove (\S+)/.exec(what) ?? [];
  const member = names.get(id ?? "");
  return member === undefined
    ? undefined
    : { member, sentence: `fenced member ${member} was removed from etcd: ${what}` };
}

/** As the operator has accepted them. */
function fencedNames(view: WorldView): readonly string[] {
  return view
    .list(Clusters)
    .flatMap(({ status }) => status?.fencing?.members ?? [])
    .map(({ name }) => name);
}

/**
 * The model of etcd reports each stop that ends the quorum, unless the user allows it. No survivor goes on
 * alone while a member is fenced.
 */
function quorumNeedsConsent(etcd: EtcdModel): Oracle {
  return {
    name: "the quorum is given up only with consent",
    judge(view) {
      let forced = 0;
      return {
        changed() {
          etcd.mayStopAll = view.list(Clusters).some(({ spec }) => spec.fencing?.allowQuorumLoss === true);
          return undefined;
        },
        passed() {
          if (etcd.forced.length === forced) return undefined;
          forced = etcd.forced.length;
          const fenced = fencedNames(view);
          return fenced.length === 0
            ? undefined
            : `${etcd.forced.at(-1)} goes on alone while ${fenced.join()} is fenced`;
        },
      };
    },
  };
}

/** At rest the fenced members are those of the spec, and all others serve. */
function fencedAsTheSpecSays(etcd: EtcdModel): Oracle {
  return {
    name: "in the end the fenced members are those of the spec",
    judge: (view) => ({
      ended({ unsettled }) {
        if (unsettled !== undefined) return undefined;
        const problems = view.list(Clusters).map((cluster) => problemOf(cluster, view, etcd));
        return problems.find((each) => each !== undefined);
      },
    }),
  };
}

function problemOf(cluster: Stored<EtcdCluster>, view: WorldView, etcd: EtcdModel): string | undefined {
  const { fencing } = cluster.status ?? {};
  const fenced = fencing?.members.map(({ name }) => name) ?? [];
  const refused = fencing?.refused?.map(({ member }) => member) ?? [];
  const wanted = cluster.spec.fencing?.members ?? [];
  if (!isSame([...fenced, ...refused], wanted))
    return `the spec fences ${text(wanted)}; fenced are ${text(fenced)}, and refused ${text(refused)}`;
  return refusalProblem(cluster, fenced, refused) ?? processProblem(cluster, fenced, view, etcd);
}

/** In these worlds a member is refused for the quorum alone. */
function refusalProblem(
  { spec, status }: EtcdCluster,
  fenced: readonly string[],
  refused: readonly string[],
): string | undefined {
  const size = status?.members.length ?? 0;
  const quorum = Math.floor(size / 2) + 1;
  const isRight = spec.fencing?.allowQuorumLoss !== true && size - fenced.length - 1 < quorum;
  return refused.length === 0 || isRight
    ? undefined
    : `${text(refused)} is refused, although ${size - fenced.length - 1} of ${size} would be left`;
}

function processProblem(
  { spec, status, metadata: { name } }: EtcdCluster,
  fenced: readonly string[],
  view: WorldView,
  etcd: EtcdModel,
): string | undefined {
  const names = status?.members.map((each) => each.name) ?? [];
  const listed = [...(newest(etcd)?.data.members.values() ?? [])].map((each) => each.name);
  const others = names.filter((each) => !fenced.includes(each));
  const pods = view.list(Pod).map(({ metadata }) => metadata.name);
  if (!isSame(pods, others))
    return `pods are ${text(pods)}; expected ${text(others)}, because ${text(fenced)} is fenced`;
  if (listed.length > 0 && !isSame(listed, names)) return `etcd has ${text(listed)}, and the status ${text(names)}`;
  if (names.length !== spec.size) return `${names.length} members, expected ${spec.size}`;
  const volumes = view.list(PersistentVolumeClaim).map(({ metadata }) => metadata.name.replace("data-", ""));
  if (!isSame(volumes, names)) return `volumes of ${text(volumes)}; expected those of ${text(names)}`;
  const serving = etcd.members(name ?? "").filter(({ isServing }) => isServing);
  const isServed = others.length * 2 > names.length;
  return isServed && serving.length < others.length ? `${serving.length} of ${others.length} members serve` : undefined;
}

/** The member with the most data. */
function newest(etcd: EtcdModel): EtcdMember | undefined {
  return etcd.members("orders").toSorted((a, b) => b.data.index - a.data.index)[0];
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.toSorted().join() === b.toSorted().join();
}

function text(names: readonly string[]): string {
  return names.length === 0 ? "none" : names.toSorted().join(", ");
}
