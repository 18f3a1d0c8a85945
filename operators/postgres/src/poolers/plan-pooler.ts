/** What to do next about a pooler; pure. The rules are read from top to bottom: the order is the policy. */
import { act as actOn, rest, type Step, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { refusalText } from "../inner/refused-field.ts";
import { hashOf } from "../instance/document-hash.ts";
import type { DesiredPooler } from "../instance/pooler-protocol.ts";
import type { SeenPooler, SeenPoolerPod } from "./pooler-seen.ts";

export interface PoolerActions {
  /** Creates the role of poolers in PostgreSQL. */
  readonly prepareLogin: Record<never, never>;
  /** Creates or changes the Deployment, the Service and the disruption budget. */
  readonly applyObjects: Record<never, never>;
  /** Says to these pods what they should be. */
  readonly instruct: { readonly pods: readonly string[] };
}

export type PoolerStep = Step<PoolerActions>;

const recheckMs = 15_000;
const waitMs = 1_000;

export const poolerRules: readonly PlanRule<SeenPooler, PoolerActions>[] = [
  {
    name: "refused",
    when: ({ refusals }) => refusals.length > 0,
    step: ({ refusals }) => rest(recheckMs, { reason: "FieldsRefused", message: refusalText(refusals) }),
  },
  {
    name: "no cluster",
    when: ({ cluster }) => cluster.kind === "missing",
    step: ({ cluster }) => wait(cluster.kind === "missing" ? cluster.why : "", recheckMs),
  },
  {
    name: "a name is taken",
    when: ({ taken }) => taken !== undefined,
    step: ({ taken }) =>
      wait(`${taken ?? ""} belongs to another owner; rename the PostgresPooler or remove that object`, recheckMs),
  },
  // Before anything that takes time: clients must not fail.
  { name: "instructions", when: ({ wanted }) => wanted !== undefined, step: planInstructions },
  {
    name: "certificate",
    when: ({ hasCertificate }) => !hasCertificate,
    step: () => wait("the controller of the PostgresCluster issues the certificate of the pooler", waitMs),
  },
  {
    name: "login",
    when: ({ hasLogin, cluster }) => !hasLogin && cluster.kind === "serving",
    step: () => act("prepareLogin", {}, "the primary may lack the role of poolers"),
  },
  {
    name: "first primary",
    when: ({ wanted, hasLogin }) => wanted === undefined || !hasLogin,
    step: ({ cluster }) => wait(cluster.kind === "serving" ? "there is no primary yet" : cluster.why, waitMs),
  },
  {
    name: "objects",
    when: ({ objects }) => objects.wanted !== objects.present,
    step: () => act("applyObjects", {}, "the Deployment, the Service or the budget is missing or old"),
  },
  { name: "pods", when: () => true, step: waitForPods },
  { name: "rest", when: () => true, step: () => rest(recheckMs) },
];

export const planPooler: (seen: SeenPooler, nowMs: number) => PoolerStep = planByRules<SeenPooler, PoolerActions>(
  poolerRules,
);

function act<Name extends keyof PoolerActions>(action: Name, args: PoolerActions[Name], reason: string): PoolerStep {
  return actOn<PoolerActions, Name>(action, args, reason);
}

/** While clients wait, each pod hears it again and again: its pause would end by itself. */
function planInstructions({ pods, wanted, pauseFor }: SeenPooler): PoolerStep | undefined {
  if (wanted === undefined) return undefined;
  const others = pods.filter((pod) => pod.report !== undefined && !isAsWanted(pod, wanted));
  if (others.length === 0) return undefined;
  const why =
    pauseFor === undefined
      ? `the server is ${wanted.host}`
      : `clients wait until the primary of term ${pauseFor} accepts writes`;
  return act("instruct", { pods: others.map(({ name }) => name) }, why);
}

function isAsWanted({ report }: SeenPoolerPod, { pauseMs, ...wanted }: DesiredPooler): boolean {
  return pauseMs === undefined && report?.pause === "no" && report.follows === hashOf(wanted);
}

function waitForPods(seen: SeenPooler): PoolerStep | undefined {
  const { instances } = seen.pooler.spec;
  const ready = seen.pods.filter(({ isReady }) => isReady).length;
  if (ready >= instances) return undefined;
  const messages = seen.pods.flatMap(({ name, report }) =>
    report?.message === undefined ? [] : [`${name}: ${report.message}`],
  );
  return wait([`${ready} of ${instances} pods are ready`, ...messages].join("; "), waitMs);
}
