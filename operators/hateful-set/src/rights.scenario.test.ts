/**
 * The operator's rights are exactly what it uses: with them it is refused nothing, and without any one of
 * them it is.
 */
import { minutes } from "setpoint";
import { missingRights, type PolicyRule, type Right, rightsOf } from "setpoint/install";
import { ClusterRole, DaemonSet, Deployment, Service } from "setpoint/kinds";
import { simulate } from "setpoint/testing";
import { expect, test } from "vitest";
import { hatefulSetOperator } from "./hateful-set-operator.ts";
import { chaosNames } from "./kind/chaos-names.ts";
import { HatefulSet } from "./kind/hateful-set.ts";
import { budget, chaos, setting, web } from "./testing/hateful-stage.ts";

const { name, rules } = hatefulSetOperator();

/** Other servers need them: a watch that begins without a list; the status of kinds that are not here. */
function isForOthers({ verb, group, resource }: Right): boolean {
  if (["etcd.setpoint.dev", "postgres.setpoint.dev"].includes(group)) return true;
  // Only an event whose sentence repeats becomes a series.
  if (resource === "events" && verb === "patch") return true;
  return ["hatefulsets", "networkpolicies"].includes(resource) && (verb === "get" || verb === "list");
}

const ruleOf = ({ verb, group, resource }: Right): PolicyRule => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [verb],
});

/** Each way to end pods, of each kind of owner. Resolves with what was refused. */
async function liveWithout(right: Right | undefined): Promise<readonly string[]> {
  await using world = await simulate({ seed: 3, ...setting(), mayFail: [/.*/] });
  const template = { metadata: { labels: { app: "other" } }, spec: { containers: [{ name: "web", image: "web:1" }] } };
  const selector = { matchLabels: { app: "other" } };
  const others = [
    Deployment({ name: "deployed", spec: { replicas: 1, selector, template } }),
    DaemonSet({ name: "everywhere", spec: { selector, template } }),
  ];
  for (const object of [web, budget, ...others]) await world.apply(object);
  const left = rightsOf(rules).filter(
    (each) => right === undefined || missingRights([ruleOf(each)], [ruleOf(right)]).length > 0,
  );
  if (right !== undefined) {
    world.stopOperator();
    await world.patch(ClusterRole, `${name}-operator`, { rules: left.map(ruleOf) });
    // Without the right to watch it does not become ready.
    await world.restartOperator().catch(() => {});
  }
  await world.run(minutes(1));
  await world.apply(chaos({ chaosLevel: 0, gracePeriodSeconds: 0 }, { [chaosNames.strike]: "evict" }));
  await world.run(minutes(3));
  await world.patch(HatefulSet, "chaos", {
    metadata: { annotations: { [chaosNames.strike]: "delete" } },
    spec: { safety: { budgets: "Ignore", unhealthy: "Ignore", quorum: "Ignore" } },
  });
  await world.run(minutes(3));
  const front = { selector: { app: "web" }, ports: [{ port: 80 }] };
  await world.apply(Service({ name: "front", spec: front }));
  await world.patch(HatefulSet, "chaos", {
    metadata: { annotations: { [chaosNames.strike]: "cut" } },
    spec: { targets: [{ type: "Partition", service: "front", durationSeconds: 10 }] },
  });
  await world.run(minutes(1));
  return world.trace.filter((line) => / hateful-set .* → 403/.test(line));
}

test("with its role the operator is refused nothing", async () => {
  expect(await liveWithout(undefined)).toEqual([]);
});

const needed = rightsOf(rules).filter((right) => !isForOthers(right));

test.each(needed.map((right) => [`${right.verb} ${right.resource}`, right] as const))(
  "without the right to %s the operator is refused what it needs",
  async (_, right) => {
    expect(await liveWithout(right)).not.toEqual([]);
  },
);
