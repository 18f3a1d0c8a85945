/**
 * The operator's rights are exactly what it uses: with them it is refused nothing, and without any one of
 * them it is. In the simulated world, whose API server enforces RBAC.
 */
import { minutes, type Operator, seconds } from "setpoint";
import { ClusterRole, ConfigMap, Lease, Role } from "setpoint/kinds";
import { simulate, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { allowed } from "./acts/act.ts";
import { complianceOperator } from "./compliance-operator.ts";
import { ComplianceProbe, runAnnotation } from "./kind/compliance-probe.ts";
import { image, ProbeModel } from "./testing/probe-model.ts";
import { probe } from "./testing/probe-stage.ts";

type Rule = Operator["rules"][number];
type RoleName = "rules" | "ownRules";

interface Right {
  readonly role: RoleName;
  readonly rule: number;
  readonly verb: string;
  readonly name: string;
}

const operator = complianceOperator(image);
const rights = (["rules", "ownRules"] as const).flatMap((role) =>
  operator[role].flatMap(({ verbs, apiGroups = [], resources = [] }, rule) =>
    verbs.map((verb): Right => ({ role, rule, verb, name: `${verb} ${resources.join()} ${apiGroups.join()}`.trim() })),
  ),
);

/**
 * Reads that this server never makes necessary: `list`, where a server cannot begin a watch with the present
 * objects, and `get`, to see whose an object is that a creation finds there.
 */
function isForOtherServers({ verb, name }: Right): boolean {
  if (name.includes("configmaps") || name.includes("leases")) return false;
  return verb === "list" || (verb === "get" && !name.includes("complianceprobes"));
}

function without(rules: readonly Rule[], { rule, verb }: Right): readonly Rule[] {
  return rules
    .map((each, at) => (at === rule ? { ...each, verbs: each.verbs.filter((other) => other !== verb) } : each))
    .filter(({ verbs }) => verbs.length > 0);
}

/** Everything that the operator does: runs, baselines, Events of changes, the end of a pod. */
async function live(world: World, model: ProbeModel): Promise<void> {
  await world.apply(ConfigMap({ name: "known", data: { "accepted.yaml": "- act: ptrace\n  reason: x\n" } }));
  await world.apply(probe({ acts: ["mount", "ptrace"], baseline: { configMap: "known" } }));
  await world.run(minutes(2));
  // The same Event twice: the second one makes it a series.
  for (const round of ["a", "b", "c", "d"]) {
    if (model.sees.size === 0) model.sees.set("mount", allowed("mount returned 0"));
    else model.sees.clear();
    await world.patch(ComplianceProbe, "shop", { metadata: { annotations: { [runAnnotation]: round } } });
    await world.run(seconds(30));
  }
}

async function refusalsWithout(right: Right | undefined): Promise<readonly string[]> {
  const model = new ProbeModel();
  await using world = await simulate({
    ...{ seed: 5, models: [model], leaderElection: true },
    operators: [complianceOperator(image)],
  });
  await world.run(seconds(5));
  world.stopOperator();
  const [lease] = await world.list(Lease);
  if (lease !== undefined) await world.delete(Lease, lease.metadata);
  const name = "compliance-probe-operator";
  if (right?.role === "rules") await world.patch(ClusterRole, name, { rules: without(operator.rules, right) });
  if (right?.role === "ownRules")
    await world.patch(Role, { name, namespace: "operators" }, { rules: without(operator.ownRules, right) });
  await world
    .restartOperator()
    .then(() => live(world, model))
    .catch(() => {});
  return world.trace.filter((line) => / compliance-probe .* → 403/.test(line));
}

test("with its role the operator is refused nothing", async () => {
  expect(await refusalsWithout(undefined)).toEqual([]);
});

test.each(rights.filter((right) => !isForOtherServers(right)).map((right) => [right.name, right] as const))(
  "without the right to %s the operator is refused what it needs",
  async (_, right) => {
    expect(await refusalsWithout(right)).not.toEqual([]);
  },
);
