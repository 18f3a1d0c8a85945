/** Stories of a ComplianceProbe in the simulated world. */
import { minutes, seconds } from "setpoint";
import { ConfigMap, Event, Pod } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { allowed, untried } from "./acts/act.ts";
import { catalogue } from "./acts/catalogue.ts";
import { ComplianceProbe, runAnnotation } from "./kind/compliance-probe.ts";
import { probe, setUp } from "./testing/probe-stage.ts";

async function said(world: World, type: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(ComplianceProbe, "shop"), type) ?? {};
  return `${status} ${reason}: ${message}`;
}

async function statusOf(world: World): Promise<NonNullable<ComplianceProbe["status"]>> {
  const { status } = await world.get(ComplianceProbe, "shop");
  if (status === undefined) throw new Error("the probe has no status yet");
  return status;
}

async function runAgain(world: World, why: string): Promise<void> {
  await world.patch(ComplianceProbe, "shop", { metadata: { annotations: { [runAnnotation]: why } } });
  await world.settled();
}

async function verdictOf(world: World, act: string): Promise<object | undefined> {
  return (await statusOf(world)).results?.find((each) => each.act === act);
}

test("a probe tries all acts, says that all are denied, and leaves no pod", async () => {
  const { world } = await setUp(1);
  await using _ = world;
  await world.apply(probe());
  await world.settled();
  const status = await statusOf(world);
  expect(status).toMatchObject({ denied: catalogue.length, allowed: 0, accepted: 0, untried: 0 });
  expect(await said(world, "Compliant")).toBe(
    `True AllDenied: All tried acts are denied: ${catalogue.length} of ${catalogue.length}`,
  );
  expect(await said(world, "Ready")).toContain("True");
  expect(await world.list(Pod)).toEqual([]);
  await world.expectQuiet();
});

test("an act that becomes allowed is a regression, with an Event, until it is denied again", async () => {
  const { world, model } = await setUp(2);
  await using _ = world;
  await world.apply(probe({ acts: ["mount", "bpf"] }));
  await world.settled();
  model.sees.set("mount", allowed("mount returned 0"));
  await runAgain(world, "second");
  expect(await said(world, "Compliant")).toBe("False ForbiddenActsAllowed: 1 of 2 acts are allowed: mount");
  expect(await verdictOf(world, "mount")).toMatchObject({ verdict: "Allowed", regressedAt: expect.any(String) });
  expect(await verdictOf(world, "bpf")).not.toHaveProperty("regressedAt");
  const events = await world.list(Event);
  expect(events.map(({ message, type }) => `${type} ${message}`)).toContain(
    "Warning mount, to change a mount, was Denied and is Allowed: mount returned 0",
  );
  model.sees.set("mount", untried("no answer"));
  await runAgain(world, "third");
  expect(await verdictOf(world, "mount")).toMatchObject({ verdict: "Untried", regressedAt: expect.any(String) });
  model.sees.clear();
  await runAgain(world, "fourth");
  expect(await verdictOf(world, "mount")).not.toHaveProperty("regressedAt");
  expect((await statusOf(world)).changes?.map(({ from, to }) => `${from} ${to}`)).toEqual([
    ...["Untried Denied", "Allowed Untried", "Denied Allowed"],
  ]);
});

test("an accepted act is no violation until its time is over", async () => {
  const { world, model } = await setUp(3);
  await using _ = world;
  model.sees.set("ptrace", allowed("ptrace returned 0"));
  const until = new Date(world.host.clock.now() + minutes(10)).toISOString();
  await world.apply(probe({ acts: ["ptrace", "bpf"], accepted: [{ act: "ptrace", reason: "a debugger", until }] }));
  await world.run(seconds(60));
  expect(await said(world, "Compliant")).toBe("True AllowedAccepted: 1 of 2 acts are allowed and accepted");
  expect(await verdictOf(world, "ptrace")).toMatchObject({ accepted: "a debugger" });
  await world.run(minutes(10));
  expect(await said(world, "Compliant")).toBe("False ForbiddenActsAllowed: 1 of 2 acts are allowed: ptrace");
});

test("a ConfigMap has acts that are accepted, and a wrong one is a condition", async () => {
  const { world, model } = await setUp(4);
  await using _ = world;
  model.sees.set("ptrace", allowed("ptrace returned 0"));
  await world.apply(probe({ acts: ["ptrace"], baseline: { configMap: "known" } }));
  await world.run(seconds(60));
  expect(await said(world, "Probed")).toBe('False BaselineUnusable: ConfigMap "known" does not exist; create it');
  await world.apply(ConfigMap({ name: "known", data: { "accepted.yaml": "- act: ptrace\n  reason: a debugger\n" } }));
  await world.run(minutes(2));
  expect(await said(world, "Compliant")).toContain("True AllowedAccepted");
  await world.patch(ConfigMap, "known", { data: { "accepted.yaml": "- act: fly\n  reason: x\n" } });
  await world.run(minutes(2));
  expect(await said(world, "Probed")).toContain(
    'False BaselineUnusable: ConfigMap "known", key "accepted.yaml": 0.act',
  );
});

test("a schedule repeats the run, in its time zone, and leaves no pod", async () => {
  const { world } = await setUp(5);
  await using _ = world;
  await world.apply(probe({ acts: ["mount"], schedule: "*/10 * * * *", timeZone: "Europe/Berlin" }));
  await world.run(minutes(25));
  const { lastRun, nextRun } = await statusOf(world);
  expect(lastRun?.number).toBe(3);
  expect(nextRun).toMatch(/:[0-5]0:00Z$/);
  expect(await world.list(Pod)).toEqual([]);
  await world.patch(ComplianceProbe, "shop", { spec: { suspend: true } });
  await world.run(minutes(25));
  expect((await statusOf(world)).lastRun?.number).toBe(3);
});

test("a run that fails keeps the results of the one before, and is repeated", async () => {
  const { world, model } = await setUp(6);
  await using _ = world;
  await world.apply(probe({ acts: ["mount"] }));
  await world.settled();
  model.failure = { code: 1, message: "Cannot find module" };
  await world.patch(ComplianceProbe, "shop", { metadata: { annotations: { [runAnnotation]: "again" } } });
  await world.run(seconds(60));
  expect(await said(world, "Probed")).toContain(
    'False RunFailed: Run 2 brought no complete result: container "kernel" ended with exit code 1',
  );
  expect(await said(world, "Compliant")).toBe("True AllDenied: All tried acts are denied: 1 of 1");
  model.failure = undefined;
  await world.run(minutes(6));
  expect(await said(world, "Probed")).toBe("True RunFinished: Run 3 has ended");
});

test("a run whose pod cannot start says why", async () => {
  const { world } = await setUp(7);
  await using _ = world;
  await world.apply(probe({ acts: ["mount"], pod: { nodeSelector: { disk: "none" } } }));
  await world.run(minutes(2));
  expect(await said(world, "Probed")).toMatch(/^False PodNotRunning: .*node/);
});
