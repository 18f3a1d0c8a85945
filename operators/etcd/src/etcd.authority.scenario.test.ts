/** Which Secrets may sign the certificates of a cluster; in the simulated world. */
import { dataLabels, simulatedIssuer, textOf } from "@setpoint/data-service";
import { minutes } from "setpoint";
import { Pod, Secret } from "setpoint/kinds";
import { conditionOf, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { bootstrap, cluster, expectHealthy, setUp } from "./testing/etcd-stage.ts";

const allowed = { [dataLabels.certificateAuthority]: "true" };

function signedBy(authoritySecret: string): { readonly tls: EtcdCluster["spec"]["tls"] } {
  return { tls: { mode: "Enabled", authoritySecret } };
}

async function createAuthority(world: World, name: string, labels: Readonly<Record<string, string>>): Promise<string> {
  const { certificate, key } = simulatedIssuer.createAuthority({ commonName: name, lifetimeMs: 1e11 }, world.host);
  await world.apply(Secret({ name, labels, stringData: { "tls.crt": certificate, "tls.key": key } }));
  return certificate;
}

/** What is there of a cluster that got no certificates. */
async function refusal(world: World, name: string): Promise<string | undefined> {
  await world.run(minutes(2));
  const pods = (await world.list(Pod)).filter(({ metadata }) => metadata.name.startsWith(name));
  expect(pods).toEqual([]);
  const secrets = (await world.list(Secret)).map(({ metadata }) => metadata.name);
  expect(secrets.filter((each) => each.startsWith(`${name}-`))).toEqual([]);
  const condition = conditionOf(await world.get(EtcdCluster, name), "Accepted");
  expect(condition).toMatchObject({ status: "False", reason: "FieldsRefused" });
  return condition?.message;
}

test("an authority signs nothing before its Secret has the label", async () => {
  const stage = await setUp(51);
  await using world = stage.world;
  await createAuthority(world, "company", {});
  await world.apply(cluster("orders", signedBy("company")));
  expect(await refusal(world, "orders")).toBe(
    'spec.tls.authoritySecret: Secret "company" signs no certificates, because it has no label data.setpoint.dev/certificate-authority=true; to allow it, run: kubectl label secret company --namespace=default data.setpoint.dev/certificate-authority=true',
  );
  await world.patch(Secret, "company", { metadata: { labels: allowed } });
  await world.settled();
  await expectHealthy(stage);
  await world.expectQuiet();
});

test.each([{}, allowed])("the authority of another cluster never signs, with labels %j", async (labels) => {
  const stage = await setUp(52);
  await using world = stage.world;
  await bootstrap(stage, { tls: { mode: "Enabled" } });
  await world.patch(Secret, "orders-ca", { metadata: { labels } });
  await world.apply(cluster("mine", signedBy("orders-ca")));
  expect(await refusal(world, "mine")).toBe(
    'spec.tls.authoritySecret: Secret "orders-ca" has an authority that the operator made for one instance, and signs for no other; name a Secret with an authority of your own, or remove the field',
  );
});

test("neither do a cluster's other Secrets, also when a tool took their owner away", async () => {
  const stage = await setUp(53);
  await using world = stage.world;
  await bootstrap(stage, { tls: { mode: "Enabled" } });
  await world.patch(Secret, "orders-ca", { metadata: { labels: allowed, ownerReferences: null } });
  await world.patch(Secret, "orders-client-tls", { metadata: { labels: allowed } });
  await world.apply(cluster("mine", signedBy("orders-ca")));
  await world.apply(cluster("second", signedBy("orders-client-tls")));
  expect(await refusal(world, "mine")).toContain("that the operator made");
  expect(await refusal(world, "second")).toContain("that the operator made");
});

test("a cluster that an earlier release signed goes on, and says what its authority needs", async () => {
  const stage = await setUp(54);
  await using world = stage.world;
  const authority = await createAuthority(world, "company", allowed);
  const { tls } = signedBy("company");
  await bootstrap(stage, { tls: { ...tls, certificateLifetime: "3h" } });
  await world.patch(Secret, "company", { metadata: { labels: { [dataLabels.certificateAuthority]: null } } });
  await world.patch(EtcdCluster, "orders", {
    metadata: { annotations: { "etcd.setpoint.dev/rotate-certificates": "1" } },
  });
  await world.run(minutes(5));
  const { status } = await world.get(EtcdCluster, "orders");
  expect(status).toMatchObject({ phase: "Running", readyMembers: 3 });
  expect(status?.tls?.certificatesEnd).toBeDefined();
  const condition = conditionOf(await world.get(EtcdCluster, "orders"), "Accepted");
  expect(condition?.message).toContain("kubectl label secret company");
  const certificate = textOf(await world.get(Secret, "orders-peer-tls"), "tls.crt") ?? "";
  world.kill(stage.etcd.leader("orders") ?? "");
  await world.run(minutes(5));
  expect(await world.get(EtcdCluster, "orders")).toMatchObject({ status: { phase: "Running", readyMembers: 3 } });
  // The renewal was due after two hours.
  await world.run(minutes(150));
  expect(textOf(await world.get(Secret, "orders-peer-tls"), "tls.crt")).toBe(certificate);
  await world.patch(Secret, "company", { metadata: { labels: allowed } });
  await world.run(minutes(5));
  const renewed = textOf(await world.get(Secret, "orders-peer-tls"), "tls.crt") ?? "";
  expect(renewed).not.toBe(certificate);
  expect(simulatedIssuer.isIssuedBy(renewed, authority)).toBe(true);
  expect(conditionOf(await world.get(EtcdCluster, "orders"), "Accepted")?.status).toBe("True");
});
