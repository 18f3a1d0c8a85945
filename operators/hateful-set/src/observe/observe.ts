/** Reads the targets into one snapshot, when there is something to decide; changes nothing. */
import { isNotFound, type KubeObject, type ReconcileContext, type Stored } from "setpoint";
import { matchesLabelSelector, Namespace, NetworkPolicy, Pod, PodDisruptionBudget, Service } from "setpoint/kinds";
import { isOpen } from "../kind/act-record.ts";
import { chaosNames } from "../kind/chaos-names.ts";
import type { HatefulSet } from "../kind/hateful-set.ts";
import { occasionOf } from "../seen/occasion.ts";
import type { Seen, SeenPod, SeenService, SeenTarget } from "../seen/seen.ts";
import { declaredState } from "./declared-state.ts";
import { type Owner, OwnerChains } from "./owner-chain.ts";
import type { ResourceNames } from "./resource-names.ts";

/** Labels such as `role`, `spilo-role`, `cnpg.io/instanceRole` and `postgres.setpoint.dev/role`. */
const roleLabel = /(^|[/.-])(role|instanceRole)$/;

export async function observe(set: Stored<HatefulSet>, context: ReconcileContext, names: ResourceNames): Promise<Seen> {
  const policies = context.children.list(NetworkPolicy).map(({ metadata }) => metadata.name);
  const isIdle = occasionOf(set, context.host.clock.now()) === undefined;
  if (isIdle) return { set, policies, targets: undefined, services: [] };
  const [targets, services] = await Promise.all([observeTargets(set, context, names), observeServices(set, context)]);
  return { set, policies, targets, services };
}

async function observeServices(set: Stored<HatefulSet>, context: ReconcileContext): Promise<readonly SeenService[]> {
  const { client, signal } = context;
  const namespace = set.metadata.namespace ?? "";
  const wanted = new Set((set.spec.targets ?? []).flatMap(({ service }) => service ?? []));
  const read = async (name: string): Promise<SeenService | undefined> => {
    const service = await client.get(Service, { name, namespace }, { signal }).catch(unlessMissing);
    return service && { name, uid: service.metadata.uid, selector: service.spec?.selector ?? {} };
  };
  return (await Promise.all([...wanted].map(read))).filter((service) => service !== undefined);
}

function unlessMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

/** From the server: an act may not follow from a cache that is behind. */
async function observeTargets(
  set: Stored<HatefulSet>,
  context: ReconcileContext,
  names: ResourceNames,
): Promise<readonly SeenTarget[]> {
  const { client, signal } = context;
  const namespace = set.metadata.namespace ?? "";
  const [pods, budgets, home] = await Promise.all([
    client.listAll(Pod, { namespace, signal }),
    client.listAll(PodDisruptionBudget, { namespace, signal }),
    client.get(Namespace, { name: namespace }, { signal }),
  ]);
  const chains = new OwnerChains(names, context, namespace);
  const running = pods.items.filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
  const owned = await Promise.all(running.map(async (pod) => ({ pod, chain: await chains.of(pod) })));
  const groups = Map.groupBy(
    owned.filter(({ chain }) => chain.length > 0),
    ({ chain }) => keyOf(chain.at(-1)),
  );
  const targets = [...groups.values()].map((group) => {
    const chain = group[0]?.chain ?? [];
    return targetOf(
      chain,
      group.map((each) => seenPod(each.pod, [home, ...objectsOf(each.chain)], budgets.items)),
    );
  });
  const awaited = set.status?.acts?.find(isOpen)?.target;
  if (awaited === undefined || groups.has(keyOf(awaited))) return targets;
  return [...targets, targetOf([await chains.read(awaited)], [])];
}

function keyOf(owner: Pick<Owner, "apiVersion" | "kind" | "name"> | undefined): string {
  return `${owner?.apiVersion}/${owner?.kind}/${owner?.name}`;
}

function objectsOf(chain: readonly Owner[]): readonly KubeObject[] {
  return chain.flatMap(({ object }) => (object === undefined ? [] : [object]));
}

function targetOf(chain: readonly Owner[], pods: readonly SeenPod[]): SeenTarget {
  const { apiVersion = "", kind = "", name = "", object, unreadable } = chain.at(-1) ?? {};
  const isGone = object === undefined && unreadable === undefined;
  return { apiVersion, kind, name, isGone, unreadable, pods, ...declaredState(object) };
}

/** `above`: the objects whose labels speak for the pod, too. */
function seenPod(pod: Stored<Pod>, above: readonly KubeObject[], budgets: readonly PodDisruptionBudget[]): SeenPod {
  const said = [pod, ...above].map(({ metadata }) => metadata.labels?.[chaosNames.chaos]);
  const labels = pod.metadata.labels ?? {};
  const covering = budgets.filter(({ spec }) => matchesLabelSelector(spec?.selector, labels));
  return {
    pod,
    isOptedIn: said.includes("enabled") && !said.includes("disabled"),
    isReady: pod.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false,
    isEnding: pod.metadata.deletionTimestamp !== undefined,
    labelRoles: Object.entries(labels).flatMap(([key, value]) => (roleLabel.test(key) ? [value.toLowerCase()] : [])),
    budgets: covering.map(({ metadata, status }) => ({
      name: metadata.name ?? "",
      disruptionsAllowed: status?.disruptionsAllowed ?? 0,
    })),
  };
}
