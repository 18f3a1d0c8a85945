/** Stories of an Alertmanager in the simulated world. */
import { minutes, seconds } from "setpoint";
import { Pod, Secret, Service, StatefulSet } from "setpoint/kinds";
import { conditionOf } from "setpoint/testing";
import { expect, test } from "vitest";
import { Alertmanager } from "./kind/alertmanager.ts";
import { AlertmanagerConfig } from "./kind/alertmanager-config.ts";
import {
  alertmanager,
  config,
  type AlertmanagerStage,
  configuration,
  configurationOf,
  setUpAlertmanager,
} from "./testing/alertmanager-stage.ts";

const pager = "route: {receiver: pager}\nreceivers: [{name: pager}]\n";

async function told({ world }: AlertmanagerStage, type: string): Promise<string> {
  const { status = "", reason = "", message = "" } = conditionOf(await world.get(Alertmanager, "main"), type) ?? {};
  return `${status} ${reason}: ${message}`;
}

test("a pair of Alertmanagers becomes available, and says that its configuration is loaded", async () => {
  const stage = await setUpAlertmanager(1);
  const { world } = stage;
  await using _ = world;
  await world.apply(alertmanager({ replicas: 2 }));
  await world.run(seconds(90));
  expect(await told(stage, "Available")).toBe("True AllPodsReady: 2 of 2 pods are available");
  await stage.load();
  await world.run(seconds(90));
  expect(await told(stage, "ConfigurationLoaded")).toBe("True Loaded: All pods have loaded the configuration");
  expect((await world.list(Service)).map(({ metadata }) => metadata.name)).toContain("alertmanager-operated");
  const before = await world.get(Alertmanager, "main");
  await world.run(minutes(60));
  expect((await world.get(Alertmanager, "main")).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
});

test("a changed configuration is loaded, and no pod restarts", async () => {
  const stage = await setUpAlertmanager(2);
  const { world } = stage;
  await using _ = world;
  await world.apply(alertmanager());
  await world.run(seconds(30));
  expect(await configurationOf(world)).toContain("receiver: 'null'");
  const [before] = await world.list(Pod);
  await world.apply(configuration(pager));
  await world.run(seconds(90));
  expect(await configurationOf(world)).toBe(pager);
  expect((await world.list(Pod)).map(({ metadata }) => metadata.uid)).toEqual([before?.metadata.uid]);
});

test("a configuration that is none changes nothing, and one that the server refuses is reported", async () => {
  const stage = await setUpAlertmanager(3);
  const { world } = stage;
  await using _ = world;
  await world.apply(configuration(pager));
  await world.apply(alertmanager());
  await world.run(seconds(30));
  await world.apply(configuration("route: {receiver: nobody}\n"));
  await world.run(seconds(90));
  expect(await configurationOf(world)).toBe(pager);
  expect(await told(stage, "Reconciled")).toBe(
    'False InvalidConfiguration: spec.configSecret: route.receiver: there is no receiver "nobody"',
  );
  await world.apply(configuration(pager));
  await stage.load("The server answered 500: no");
  await world.run(seconds(90));
  expect(await told(stage, "ConfigurationLoaded")).toBe(
    'False Refused: Pod "alertmanager-main-0" keeps its old configuration: The server answered 500: no',
  );
});

test("hand-made changes are undone, and a paused Alertmanager keeps them", async () => {
  const stage = await setUpAlertmanager(4);
  const { world } = stage;
  await using _ = world;
  await world.apply(alertmanager());
  await world.run(seconds(30));
  await world.patch(StatefulSet, "alertmanager-main", { spec: { replicas: 3 } });
  await world.run(seconds(30));
  expect((await world.get(StatefulSet, "alertmanager-main")).spec?.replicas).toBe(1);
  await world.patch(Alertmanager, "main", { spec: { paused: true } });
  await world.run(seconds(5));
  await world.patch(StatefulSet, "alertmanager-main", { spec: { replicas: 3 } });
  await world.run(seconds(30));
  expect((await world.get(StatefulSet, "alertmanager-main")).spec?.replicas).toBe(3);
});

test("an AlertmanagerConfig adds its routes for its own namespace, and an invalid one is left out", async () => {
  const stage = await setUpAlertmanager(5);
  const { world } = stage;
  await using _ = world;
  await world.apply(config("good", { url: "http://receiver/" }));
  await world.apply(config("bad", { urlSecret: { name: "hook", key: "url" } }));
  await world.apply(alertmanager({ alertmanagerConfigSelector: {} }));
  await world.run(seconds(30));
  const names = async (): Promise<readonly string[]> =>
    [...(await configurationOf(world)).matchAll(/- name: (\S+)/g)].map(([, name = ""]) => name);
  expect(await names()).toEqual(['"null"', "default/good/hook"]);
  expect(await configurationOf(world)).toContain('- namespace="default"');
  expect(await told(stage, "Reconciled")).toBe(
    'True SomeObjectsLeftOut: Left out: AlertmanagerConfig "default/bad": spec.receivers[0].webhookConfigs[0].urlSecret: key "url" of Secret "default/hook" does not exist; create it',
  );
  const accepted = async (name: string): Promise<unknown> =>
    (await world.get(AlertmanagerConfig, name)).status?.bindings?.map(({ resource, name: by, conditions }) => [
      `${resource}/${by}`,
      conditions?.[0]?.status,
    ]);
  expect([await accepted("good"), await accepted("bad")]).toEqual([
    [["alertmanagers/main", "True"]],
    [["alertmanagers/main", "False"]],
  ]);
  await world.apply(Secret({ name: "hook", data: { url: Buffer.from("http://other/").toString("base64") } }));
  await world.run(seconds(130));
  expect(await names()).toEqual(['"null"', "default/bad/hook", "default/good/hook"]);
  expect(await accepted("bad")).toEqual([["alertmanagers/main", "True"]]);
});

test("an AlertmanagerConfig can be the root of the configuration", async () => {
  const stage = await setUpAlertmanager(6);
  const { world } = stage;
  await using _ = world;
  await world.apply(alertmanager({ alertmanagerConfiguration: { name: "root" } }));
  await world.run(seconds(30));
  expect(await told(stage, "Reconciled")).toBe(
    'False InvalidConfiguration: spec.alertmanagerConfiguration.name: AlertmanagerConfig "root" does not exist in the namespace; create it',
  );
  await world.apply(config("root", { url: "http://receiver/" }));
  await world.run(seconds(30));
  expect(await configurationOf(world)).toMatch(/^route:\n {2}receiver: default\/root\/hook\n/);
});
