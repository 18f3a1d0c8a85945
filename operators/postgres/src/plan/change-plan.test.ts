import { expect, test } from "vitest";
import type { PostgresCluster } from "../kind/postgres-cluster.ts";
import { specInForce, specRecord } from "../kind/spec-in-force.ts";
import { changeSteps } from "./change-plan.ts";
import { cluster, primary, replica, seen } from "./situation.fixture.ts";

type Spec = Partial<PostgresCluster["spec"]>;

const [a, b, c] = ["orders-1", "orders-2", "orders-3"] as const;
const three = [primary(a), replica(b), replica(c)];

/** `RestartServer orders-3`: the steps of a change, each with its instance. */
function stepsOf(asked: Spec, before: Spec = {}, instances = three): readonly string[] {
  const facts = { cluster: cluster(before), asked: cluster({ ...before, ...asked, dryRun: true }).spec };
  return changeSteps(seen(instances, facts)).map(({ action, member }) => [action, member].filter(Boolean).join(" "));
}

test("a setting that a reload brings, access rules and synchronous replication restart nothing", () => {
  expect(stepsOf({ parameters: { work_mem: "8MB" } })).toEqual(["Reload"]);
  expect(
    stepsOf({ accessRules: ["host all all all reject"], synchronous: { number: 1, durability: "required" } }),
  ).toEqual(["Reload"]);
  expect(stepsOf({})).toEqual([]);
});

test("a setting that needs a restart reaches replicas first, and the primary hands over", () => {
  const steps = [`RestartServer ${c}`, `RestartServer ${b}`];
  expect(stepsOf({ parameters: { shared_buffers: "1GB" } })).toEqual([...steps, `Switchover ${a}`]);
  expect(stepsOf({ parameters: { shared_buffers: "1GB" }, primaryUpdate: "restart" })).toEqual([
    ...steps,
    `RestartServer ${a}`,
  ]);
  expect(stepsOf({ parameters: { shared_buffers: "1GB" } }, {}, [primary(a)])).toEqual([`RestartServer ${a}`]);
});

test("a limit is raised like any other setting, and lowered on the primary first", () => {
  expect(stepsOf({ parameters: { max_connections: "200" } }).at(-1)).toBe(`Switchover ${a}`);
  const lower = [`RestartServer ${a}`, `RestartServer ${c}`, `RestartServer ${b}`];
  expect(stepsOf({ parameters: { max_connections: "50" } })).toEqual(lower);
  // Back to what a cluster has without the field.
  expect(stepsOf({ parameters: {} }, { parameters: { max_connections: "200" } })).toEqual(lower);
  expect(stepsOf({ parameters: { max_connections: "50", shared_buffers: "1GB" } })).toEqual([
    ...[`RestartServer ${c}`, `RestartServer ${b}`],
    ...lower,
  ]);
});

test("a new image brings settings along, but for those that the primary lowers first", () => {
  const image = "docker.io/library/postgres:17.6";
  const pods = [`RestartInstance ${c}`, `RestartInstance ${b}`, `Switchover ${a}`, `RestartInstance ${a}`];
  expect(stepsOf({ image, parameters: { shared_buffers: "1GB" } })).toEqual(pods);
  expect(stepsOf({ image, parameters: { max_connections: "50" } })).toEqual([
    ...pods,
    ...[`RestartServer ${b}`, `RestartServer ${c}`, `RestartServer ${a}`],
  ]);
});

test("size and volumes say what cannot be taken back", () => {
  expect(stepsOf({ instances: 4 })).toEqual(["AddInstance orders-4"]);
  expect(stepsOf({ instances: 2 })).toEqual([`RemoveInstance ${c}`]);
  const led = [replica(a), replica(b), primary(c)];
  const facts = { cluster: cluster({}, { primary: c }), asked: cluster({ instances: 2 }).spec };
  const steps = changeSteps(seen(led, facts));
  expect(steps.map(({ action }) => action)).toEqual(["Switchover", "RemoveInstance"]);
  expect(steps[1]?.noReturn).toBe(`the volume of ${c} is deleted; the other instances have the data`);
  expect(stepsOf({ storage: { size: "2Gi" } })).toEqual([`GrowVolume ${c}`, `GrowVolume ${b}`, `GrowVolume ${a}`]);
});

test("a dry run goes on with the last spec that was none", () => {
  const before = cluster({ parameters: { work_mem: "8MB" } });
  const asked = cluster({ instances: 5, dryRun: true }, { specInForce: specRecord(before.spec) });
  expect(specInForce(asked)).toEqual({ ...before.spec, dryRun: true, paused: false });
  expect(specInForce(before)).toBe(before.spec);
});
