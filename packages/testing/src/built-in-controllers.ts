/** The controllers of a world, as those of kube-controller-manager and kube-scheduler, in one process. */
import type { Transport } from "@setpoint/apimachinery";
import { createClient } from "@setpoint/client";
import {
  claimBinder,
  claimProtection,
  daemonSets,
  cronJobs,
  deployments,
  endpointMirroring,
  endpoints,
  GarbageCollector,
  horizontalPodAutoscalers,
  jobOrphans,
  jobs,
  leftoverEndpoints,
  namespaces,
  podDisruptionBudgets,
  replicaSets,
  replicationControllers,
  scheduler,
  serviceAccounts,
  statefulSets,
  taintEvictions,
  volumePhases,
} from "@setpoint/controllers";
import type { Host } from "@setpoint/host";
import { InformerFactory, startManager, type ControllerDefinition } from "@setpoint/runtime";
import type { Operator } from "setpoint";

/** Controllers that do not run when no operator in the world may see their work. */
const optional = (): readonly {
  readonly definition: ControllerDefinition;
  readonly resources: readonly string[];
}[] => [
  { definition: deployments, resources: ["deployments"] },
  { definition: replicaSets, resources: ["replicasets", "deployments"] },
  { definition: replicationControllers, resources: ["replicationcontrollers"] },
  { definition: statefulSets, resources: ["statefulsets"] },
  { definition: jobs, resources: ["jobs", "cronjobs"] },
  { definition: jobOrphans, resources: ["jobs", "cronjobs"] },
  { definition: cronJobs, resources: ["cronjobs"] },
  { definition: podDisruptionBudgets, resources: ["poddisruptionbudgets"] },
  { definition: daemonSets(), resources: ["daemonsets"] },
  { definition: claimBinder, resources: ["persistentvolumes"] },
  { definition: volumePhases, resources: ["persistentvolumes"] },
  { definition: horizontalPodAutoscalers(), resources: ["horizontalpodautoscalers"] },
  { definition: endpoints, resources: ["endpoints", "endpointslices"] },
  { definition: leftoverEndpoints, resources: ["endpoints"] },
  { definition: endpointMirroring, resources: ["endpoints", "endpointslices"] },
  { definition: taintEvictions(), resources: ["nodes"] },
];

const accounts = serviceAccounts({ caPem: "simulated" });

export interface BuiltInControllers {
  /** The nodes share these caches: none of them sees what the others do not. */
  readonly informers: InformerFactory;
  /** Resolves when all of them are in sync. */
  readonly ready: Promise<unknown>;
}

/**
 * They run until the world ends. With `observers`, only those run whose work one of these operators may see
 * or cause. The scheduler then writes Events only when one of them may read Events. The operators see no
 * difference, and a run costs half as much.
 */
export function startBuiltInControllers(
  transport: Transport,
  host: Host,
  observers?: readonly Operator[],
): BuiltInControllers {
  const touched = observers === undefined ? everything : resourcesOf(observers);
  const controllers = [
    ...optional()
      .filter(({ resources }) => isTouched(resources, touched))
      .map(({ definition }) => definition),
    // The simulated nodes bind claims.
    scheduler({ events: observers === undefined || observers.some(readsEvents), claims: false }),
    namespaces,
    claimProtection,
    accounts,
  ];
  const manager = startManager({ transport, host, controllers, name: "kube-controller-manager" });
  const collector = new GarbageCollector(createClient(transport, host), host, {
    informers: manager.informers,
    looksAt: ({ plural }) => observers === undefined || isPresent(plural, touched),
  });
  return { informers: manager.informers, ready: Promise.all([manager.ready, collector.start()]) };
}

/** For worlds whose operators are the controllers themselves. */
export function startCollector(transport: Transport, host: Host): BuiltInControllers {
  const client = createClient(transport, host);
  return { informers: new InformerFactory(client, host), ready: new GarbageCollector(client, host).start() };
}

/** Kinds whose objects the built-in controllers, nodes or operators may create. */
const alwaysPresent: ReadonlySet<string> = new Set([
  "configmaps",
  "namespaces",
  "nodes",
  "persistentvolumeclaims",
  "pods",
  "serviceaccounts",
]);

const everything: ReadonlySet<string> = new Set("*");

/** The resources in the rules of these operators, `*` too. */
function resourcesOf(operators: readonly Operator[]): ReadonlySet<string> {
  return new Set(operators.flatMap(({ rules }) => rules.flatMap(({ resources = [] }) => resources)));
}

const reading: ReadonlySet<string> = new Set(["get", "list", "watch", "*"]);

function readsEvents({ rules }: Operator): boolean {
  return rules.some(
    ({ resources = [], verbs }) =>
      resources.some((each) => each === "events" || each === "*") && verbs.some((verb) => reading.has(verb)),
  );
}

function isTouched(resources: readonly string[], touched: ReadonlySet<string>): boolean {
  return touched.has("*") || resources.some((each) => touched.has(each));
}

function isPresent(plural: string, touched: ReadonlySet<string>): boolean {
  // A Deployment of an operator has ReplicaSets that the operator never sees.
  const resources = plural === "replicasets" ? [plural, "deployments"] : [plural];
  return alwaysPresent.has(plural) || isTouched(resources, touched);
}
