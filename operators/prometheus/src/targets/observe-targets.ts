/** Reads all facts about one object that states scrapes; decides nothing. */
import type { KubeObject, ReconcileContext, Stored } from "setpoint";
import { Namespace, Pod } from "setpoint/kinds";
import { given } from "../generate/generation.ts";
import { Prometheus } from "../kind/prometheus.ts";
import { PrometheusAgent } from "../kind/prometheus-agent.ts";
import type { ServiceMonitor } from "../kind/service-monitor.ts";
import type { PoolGateway } from "../observe/pool-gateway.ts";
import { selectionMismatch } from "../select/explain-selection.ts";
import { isAgent, podSelector } from "../workload/names.ts";
import { clientReader } from "./client-reader.ts";
import { findMissingRights } from "./missing-rights.ts";
import { observeDiscovery } from "./observe-discovery.ts";
import { observePools } from "./observe-pools.ts";
import type { StatedTargets, TargetKind } from "./stated-targets.ts";
import type { DiscoveredFacts, TargetFacts, UserFacts } from "./target-facts.ts";

/** What the kinds that state scrapes have in common here. */
export interface Scraping extends KubeObject {
  readonly status?: ServiceMonitor["status"];
}

type AnyStored = Stored<Prometheus> | Stored<PrometheusAgent>;

function scrapers(context: ReconcileContext): readonly AnyStored[] {
  return [
    ...context.list(Prometheus, { allNamespaces: true }),
    ...context.list(PrometheusAgent, { allNamespaces: true }),
  ];
}

export interface Subject {
  readonly kind: TargetKind;
  readonly object: Stored<KubeObject> & Scraping;
  readonly stated: StatedTargets;
}

/** What is discovered is read only when a job has no target: it costs requests. */
export async function observeTargets(
  subject: Subject,
  context: ReconcileContext,
  gateway: PoolGateway,
): Promise<TargetFacts> {
  const { kind, stated } = subject;
  const users = new Map<AnyStored, UserFacts>();
  for (const each of scrapers(context)) users.set(each, await observeUser(each, subject, context, gateway));
  const isAsked = [...users.values()].some((user) => needsReason(user, stated));
  const discovered = isAsked ? await observeWhatIsThere(stated, context) : undefined;
  // Rights matter only for what could be found.
  const isFound = (discovered?.matching ?? []).length > 0;
  for (const [each, user] of users)
    if (isFound && needsReason(user, stated))
      users.set(each, { ...user, missingRights: await missingRights(each, stated, context) });
  return {
    ...{ kind, users: [...users.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)), jobs: stated.jobs },
    discovered: discovered ?? unread(stated),
    ...{ stated: stated.stated, elsewhere: stated.elsewhere },
  };
}

/** Not looked at, since no job asks for it. */
function unread({ discovered }: StatedTargets): DiscoveredFacts | undefined {
  return discovered === undefined ? undefined : { ...discovered, missingNamespaces: [], matching: [], others: [] };
}

function needsReason(
  { mismatch, refusal, pools }: Pick<UserFacts, "mismatch" | "refusal" | "pools">,
  { jobs }: StatedTargets,
): boolean {
  return (
    mismatch === undefined && refusal === undefined && jobs.some(({ pool }) => (pools.get(pool)?.active ?? 0) === 0)
  );
}

async function observeWhatIsThere(
  { discovered, jobs }: StatedTargets,
  context: ReconcileContext,
): Promise<DiscoveredFacts | undefined> {
  if (discovered === undefined) return undefined;
  const namespaces = context.list(Namespace, { allNamespaces: true }).map(({ metadata }) => metadata.name);
  return observeDiscovery(discovered, clientReader(context.client, context.signal), {
    namespaces: new Set(namespaces),
    withContainers: jobs.some(({ port }) => port?.of === "containerPorts"),
  });
}

async function observeUser(
  prometheus: AnyStored,
  { kind, object, stated }: Subject,
  context: ReconcileContext,
  gateway: PoolGateway,
): Promise<UserFacts> {
  const { name, namespace = "" } = prometheus.metadata;
  const place = context.get(Namespace, object.metadata.namespace ?? "");
  const facts = {
    name: `${namespace}/${name}`,
    mismatch: selectionMismatch(prometheus, kind, object, place),
    refusal: refusalBy(prometheus, object),
    account: `${namespace}/${accountOf(prometheus)}`,
  };
  if (facts.mismatch !== undefined || facts.refusal !== undefined) return { ...facts, pools: new Map() };
  return { ...facts, ...(await askPools(prometheus, stated, context, gateway)) };
}

/** As the controller of bindings has written it. */
function refusalBy(workload: AnyStored, { status }: Scraping): string | undefined {
  const { metadata } = workload;
  const plural = isAgent(workload) ? "prometheusagents" : "prometheuses";
  const binding = status?.bindings?.find(
    ({ resource, name, namespace }) =>
      resource === plural && name === metadata.name && namespace === metadata.namespace,
  );
  return binding?.conditions?.find((each) => each.type === "Accepted" && each.status === "False")?.message;
}

async function askPools(
  workload: AnyStored,
  { jobs }: StatedTargets,
  context: ReconcileContext,
  gateway: PoolGateway,
): Promise<Pick<UserFacts, "pools" | "silence">> {
  const { metadata, spec } = workload;
  if (spec.listenLocal === true)
    return { pools: new Map(), silence: "with spec.listenLocal, only the pods of Prometheus themselves can ask it" };
  const pods = context.list(Pod, { namespace: metadata.namespace ?? "" });
  const own = Object.entries(podSelector(workload));
  const names = jobs.map(({ pool }) => pool);
  return observePools(
    pods.filter((pod) => own.every(([key, value]) => pod.metadata.labels?.[key] === value)),
    names,
    gateway,
    context.signal,
  );
}

/** An API server that answers no such question has no missing rights to tell. */
async function missingRights(
  prometheus: AnyStored,
  { discovered, discoveryRole }: StatedTargets,
  { client, signal, log }: ReconcileContext,
): Promise<readonly string[]> {
  // With an API server of its own, Prometheus is another user there.
  if (discovered === undefined || prometheus.spec.apiserverConfig !== undefined) return [];
  const asked = discoveryRole ?? prometheus.spec.serviceDiscoveryRole;
  const role = asked === "EndpointSlice" ? asked : "Endpoints";
  const account = { namespace: prometheus.metadata.namespace ?? "", name: accountOf(prometheus) };
  try {
    return await findMissingRights({ discovered, role, account }, client, signal);
  } catch (error) {
    log.debug("Rights of Prometheus could not be reviewed", { error });
    return [];
  }
}

function accountOf({ spec }: AnyStored): string {
  return given(spec.serviceAccountName) ?? "default";
}
