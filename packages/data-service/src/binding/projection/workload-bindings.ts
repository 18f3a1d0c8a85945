/**
 * The operator that projects bindings into workloads: servicebinding.io's half, and `spec.workload` of ours.
 */
import { createKind, isNotFound, type KubeObject } from "@setpoint/apimachinery";
import { Secret } from "setpoint/kinds";
import {
  controller,
  defineOperator,
  keyOf,
  type KindRef,
  type Operator,
  type ReconcileContext,
  type Result,
  seconds,
  type Stored,
  watching,
} from "setpoint";
import type { PolicyRule } from "setpoint/install";
import { type ConsentProblem, secretProblem } from "../../engine/consent.ts";
import { ServiceBinding } from "../../kinds/service-binding.ts";
import { WorkloadBinding } from "../../kinds/workload-binding.ts";
import { projectBinding, type ProjectionOutcome } from "./project-binding.ts";
import { workloadKinds } from "./workload-kinds.ts";

/** How soon a service that nothing watches is asked again. */
const serviceRetryMs = seconds(30);

const workloadWatches = (kind: KindRef): readonly ReturnType<typeof watching>[] =>
  workloadKinds.map((workload) =>
    watching(workload.kind, ({ metadata: { namespace } }, cache) => cache.list(kind, { namespace }).map(keyOf)),
  );

const workloadBindings = controller(WorkloadBinding, {
  name: "workload-bindings",
  watches: [
    ...workloadWatches(WorkloadBinding),
    watching(ServiceBinding, ({ metadata: { name, namespace } }, cache) =>
      cache
        .list(WorkloadBinding, { namespace })
        .filter(({ spec }) => spec.service.kind === ServiceBinding.kind && spec.service.name === name)
        .map(keyOf),
    ),
  ],
  async reconcile({ metadata, spec }, context) {
    const { uid, name, namespace, generation } = metadata;
    const service = await providedBy(spec.service, namespace, context);
    if (service === undefined) {
      const message = `${spec.service.kind} "${spec.service.name}" does not exist, or provides no Secret yet`;
      return waitForService("ServiceUnavailable", message, generation, context);
    }
    const { secretName } = service;
    // What is projected already stays: workloads would lose their login with an upgrade of the operator.
    const problem = await projectionProblem(service, namespace, context);
    if (problem !== undefined) return waitForService(problem.reason, problem.message, generation, context);
    const projection = {
      ...{ id: uid, name: spec.name ?? name, secretName },
      ...{ containers: spec.workload.containers, env: spec.env ?? [] },
    };
    const outcome = await projectBinding(context, namespace, uid, spec.workload, projection);
    context.condition(
      { type: "ServiceAvailable", status: "True", reason: "Available", message: `Secret "${projection.secretName}"` },
      { type: "Ready", ...readiness(outcome) },
    );
    await context.status({ observedGeneration: generation, binding: { name: projection.secretName } });
  },
  async cleanup({ metadata }, context) {
    await projectBinding(context, metadata.namespace, metadata.uid, undefined, undefined);
  },
});

/** `spec.workload` of our own kind: the same projection, without another object. */
const ownWorkloads = controller(ServiceBinding, {
  name: "binding-workloads",
  finalizer: `${ServiceBinding.group}/workload`,
  watches: workloadWatches(ServiceBinding),
  predicate: (old, next) =>
    old.metadata.generation !== next.metadata.generation || old.status?.binding?.name !== next.status?.binding?.name,
  async reconcile({ metadata, spec, status }, context) {
    const { uid, name, namespace } = metadata;
    const secretName = status?.binding?.name;
    if (spec.workload !== undefined && secretName === undefined) return context.awaitChange();
    const projection = { id: uid, name, secretName: secretName ?? "", containers: spec.workload?.containers, env: [] };
    const outcome = await projectBinding(context, namespace, uid, spec.workload, projection);
    if (spec.workload !== undefined) context.condition({ type: "Projected", ...readiness(outcome) });
    return undefined;
  },
  async cleanup({ metadata }, context) {
    await projectBinding(context, metadata.namespace, metadata.uid, undefined, undefined);
  },
});

const permissions: readonly PolicyRule[] = [
  { apiGroups: [""], resources: ["secrets"], verbs: ["get"] },
  ...workloadKinds.map(({ kind }) => ({ apiGroups: [kind.group], resources: [kind.plural], verbs: ["patch"] })),
];

/** One for a cluster: it projects bindings of all engines, and of other operators' provisioned services. */
export const serviceBindingOperator: Operator = defineOperator({
  name: "service-binding",
  controllers: [workloadBindings, ownWorkloads],
  permissions,
});

interface ServiceReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

/** A Secret, and the UID of the service that provides it: undefined where a binding names the Secret. */
interface ProvidedSecret {
  readonly secretName: string;
  readonly provider?: string | undefined;
}

/** The Secret that a service provides; a Secret provides itself. */
async function providedBy(
  { apiVersion, kind, name }: ServiceReference,
  namespace: string | undefined,
  { client, get }: ReconcileContext,
): Promise<ProvidedSecret | undefined> {
  if (apiVersion === "v1" && kind === Secret.kind) return { secretName: name };
  const key = namespace === undefined ? { name } : { name, namespace };
  const service: ProvisionedService | undefined =
    apiVersion === ServiceBinding.apiVersion && kind === ServiceBinding.kind
      ? get(ServiceBinding, name, namespace)
      : await client.get(foreignKind(apiVersion, kind), key).catch(undefinedIfMissing);
  const secretName = service?.status?.binding?.name;
  return secretName === undefined ? undefined : { secretName, provider: service?.metadata.uid };
}

/** Why a Secret is not projected. A service provides what belongs to it; other Secrets need the label. */
async function projectionProblem(
  { secretName, provider }: ProvidedSecret,
  namespace = "",
  { fresh }: ReconcileContext,
): Promise<ConsentProblem | undefined> {
  const secret = await fresh(Secret, secretName, namespace);
  const isOfProvider = secret?.metadata.ownerReferences?.some(({ uid }) => uid === provider);
  return isOfProvider === true ? undefined : secretProblem("workloadBinding", { name: secretName, namespace }, secret);
}

/** What servicebinding.io asks of a service: any kind may have it. */
type ProvisionedService = Stored<KubeObject> & { readonly status?: { readonly binding?: { readonly name?: string } } };

/** A kind that is known by its name alone. Its plural is the regular one. */
function foreignKind(apiVersion: string, kind: string): KindRef {
  const [version = "", group = ""] = apiVersion.split("/").toReversed();
  const plural = `${kind.toLowerCase()}s`;
  return createKind({ group, version, kind, plural, namespaced: true });
}

function undefinedIfMissing(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

async function waitForService(
  reason: string,
  message: string,
  generation: number | undefined,
  context: ReconcileContext,
): Promise<Result> {
  context.condition(
    { type: "ServiceAvailable", status: "False", reason, message },
    { type: "Ready", status: "False", reason, message },
  );
  await context.status({ observedGeneration: generation });
  return context.requeueAfter(serviceRetryMs, message);
}

function readiness(outcome: ProjectionOutcome): {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
} {
  if (outcome.kind === "refused") return { status: "False", reason: outcome.reason, message: outcome.message };
  const { workloads } = outcome;
  if (workloads === 0) return { status: "False", reason: "WorkloadMissing", message: "No workload matches" };
  return { status: "True", reason: "Projected", message: `Projected into ${workloads} workloads` };
}
