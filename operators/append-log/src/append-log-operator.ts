/** The operator for AppendLog, assembled of its parts. */
import {
  archivedCondition,
  defineDataService,
  type InstanceAccess,
  instanceAccess,
  watchStores,
} from "@setpoint/data-service";
import {
  type ConditionInit,
  controller,
  isAlreadyExists,
  type KindRef,
  type Operator,
  type ReconcileContext,
} from "setpoint";
import type { WriteVerb } from "setpoint/install";
import { PersistentVolumeClaim, Pod } from "setpoint/kinds";
import { AppendLog } from "./append-log.ts";
import { appendLogAcceptance } from "./append-log-acceptance.ts";
import { appendLogEngine, type ServerProgram } from "./append-log-engine.ts";
import { leaderOf } from "./leader.ts";
import type { LogGateway } from "./log-gateway.ts";
import { isLed, leading, type LogActions, plan } from "./plan.ts";
import { firstClaim, memberName, replicaClaim, serverPod } from "./resources.ts";
import { observe, type Seen } from "./seen.ts";

const writes = new Map<KindRef, readonly WriteVerb[]>([
  [Pod, ["create", "delete"]],
  [PersistentVolumeClaim, ["create", "delete"]],
]);

/** `program` is the operator's own image, which has the server too. */
export function appendLogOperator(gateway: LogGateway, program: ServerProgram): Operator {
  const engine = appendLogEngine(gateway, program);
  const { roles } = engine;
  const logs = controller<AppendLog, Seen, LogActions>(AppendLog, {
    owns: [Pod, PersistentVolumeClaim],
    watches: [watchStores(AppendLog, ({ spec }) => spec.store)],
    observe: (log, context) => observe(log, context, gateway),
    plan,
    status: statusOf,
    conditions: conditionsOf,
    actions: {
      async stop({ member }, context, { members }) {
        const pod = members.find(({ name }) => name === member)?.pod;
        if (pod !== undefined) await context.delete(pod);
      },
      async start({ member, claim }, context, { log, data, store }) {
        const isFirst = member === memberName(log, 0);
        // A prepared claim is there already, and no other may take its place.
        const wanted = isFirst ? firstClaim(log) : replicaClaim(log, data.status.restored);
        if (wanted.metadata.name === claim) await context.create(wanted).catch(unlessExists);
        const { image } = program;
        await context.create(serverPod(log, { name: member, claimName: claim, image }, store.archive));
      },
      promote: ({ member }, context, seen) => roles.promote(recorded(seen), member, access(context, seen)),
      demote: ({ member }, context, seen) => roles.demote(recorded(seen), member, access(context, seen)),
      discardClaims: async (_, context, { unneeded }) =>
        void (await Promise.all(unneeded.map((claim) => context.delete(claim)))),
    },
  });
  return defineDataService({
    acceptance: appendLogAcceptance(engine),
    controllers: [logs],
    image: program.image,
    writes,
  });
}

const nobody = { role: "unknown", timeline: 0, position: 0 } as const;

function unlessExists(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}

function access(context: ReconcileContext, { log }: Seen): InstanceAccess {
  return instanceAccess(context, log.metadata.namespace);
}

/** With the status that was written before the step. */
function recorded(seen: Seen): Seen["log"] {
  return { ...seen.log, status: statusOf(seen) };
}

function statusOf(seen: Seen): Omit<NonNullable<AppendLog["status"]>, "conditions"> {
  const { log, data, members } = seen;
  const leader = leading(seen);
  const serving = data.runsOn !== undefined && isLed(seen);
  return {
    ...data.status,
    ...{ observedGeneration: log.metadata.generation, serving, ...leaderOf(seen) },
    podIP: serving ? leader?.pod?.status?.podIP : undefined,
    position: serving ? leader?.report?.position : log.status?.position,
    members: members.flatMap(({ name, report: { role, timeline, position } = nobody }) =>
      role === "unknown" ? [] : [{ name, role, timeline, position }],
    ),
    archive: log.spec.store === undefined ? undefined : (leader?.report?.archive ?? log.status?.archive),
  };
}

function conditionsOf(seen: Seen): readonly ConditionInit[] {
  const { serving, archive } = statusOf(seen);
  const { data, log, store } = seen;
  const available: ConditionInit = serving
    ? { type: "Available", status: "True", reason: "PrimaryServes", message: "The primary accepts entries" }
    : { type: "Available", status: "False", reason: "NoPrimary", message: data.refusal ?? "No member is the primary" };
  return log.spec.store === undefined ? [available] : [available, archivedCondition(archive, store.storeRefusal)];
}
