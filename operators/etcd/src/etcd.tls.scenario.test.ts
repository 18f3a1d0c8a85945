/**
 * The life of a cluster's certificates. That real etcd accepts them is the subject of
 * e2e/etcd-tls.long.test.ts.
 */
import { dataLabels, simulatedIssuer, textOf } from "@setpoint/data-service";
import { minutes } from "setpoint";
import { Event, Pod, Secret } from "setpoint/kinds";
import type { World } from "setpoint/testing";
import { describe, expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import {
  bootstrap,
  claims,
  cluster,
  expectHealthy,
  expectNothingLost,
  scenario,
  type Stage,
  startWriter,
  podUids,
} from "./testing/etcd-stage.ts";

const on = { tls: { mode: "Enabled" } } as const;
const mayBeAuthority = { [dataLabels.certificateAuthority]: "true" };
const roles = ["peer", "server", "client", "operator"];

async function certificate(world: World, name: string): Promise<string> {
  return textOf(await world.get(Secret, name), "tls.crt") ?? "";
}

async function rotate({ world }: Stage, request: string): Promise<void> {
  const annotations = { "etcd.setpoint.dev/rotate-certificates": request };
  await world.patch(EtcdCluster, "orders", { metadata: { annotations } });
}

describe("certificates", () => {
  test(
    "are there before the first member, and each member speaks TLS only",
    scenario(1, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, on);
      await expectHealthy(stage);
      for (const role of roles) {
        const { type, data } = await world.get(Secret, `orders-${role}-tls`);
        expect(type).toBe("kubernetes.io/tls");
        expect(Object.keys(data ?? {}).sort()).toEqual(["ca.crt", "tls.crt", "tls.key"]);
      }
      for (const { spec } of await world.list(Pod)) {
        const args = spec?.containers[0]?.args?.join(" ") ?? "";
        expect(args).toContain("--client-cert-auth=true");
        expect(args).toContain("--peer-client-cert-auth=true");
        expect(args).not.toMatch(/(client|peer)-urls=http:/);
      }
      const { status } = await world.get(EtcdCluster, "orders");
      expect(status?.tls?.clientSecret).toBe("orders-client-tls");
      await world.expectQuiet();
    }),
  );

  test(
    "are renewed when two thirds of their life are over, without a restart",
    scenario(2, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { tls: { mode: "Enabled", certificateLifetime: "3h" } });
      const [before, pods] = [await certificate(world, "orders-server-tls"), await podUids({ world })];
      await world.run(minutes(115));
      expect(await certificate(world, "orders-server-tls")).toBe(before);
      await world.run(minutes(10));
      expect(await certificate(world, "orders-server-tls")).not.toBe(before);
      expect(await podUids({ world })).toEqual(pods);
      await expectHealthy(stage);
    }),
  );

  test(
    "of a new authority follow a request at once, without a restart, and the old authority goes after the overlap",
    scenario(3, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { ...on, ...claims });
      const [before, pods] = [await world.get(Secret, "orders-ca"), await podUids({ world })];
      const writer = startWriter(stage);
      await rotate(stage, "first");
      await world.settled();
      await expectHealthy(stage);
      await expectNothingLost(world, writer);
      writer.stop();
      const after = await world.get(Secret, "orders-ca");
      expect(textOf(after, "tls.crt")).toBe(textOf(before, "next.crt"));
      expect(textOf(after, "previous.crt")).toBe(textOf(before, "tls.crt"));
      for (const role of roles)
        expect(
          simulatedIssuer.isIssuedBy(await certificate(world, `orders-${role}-tls`), textOf(after, "tls.crt") ?? ""),
        ).toBe(true);
      expect(await podUids({ world })).toEqual(pods);
      await world.run(minutes(11));
      expect(textOf(await world.get(Secret, "orders-ca"), "previous.crt")).toBeUndefined();
    }),
  );

  test(
    "of a second new authority wait until members that do not trust it are restarted one by one",
    scenario(4, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { ...on, ...claims });
      await rotate(stage, "first");
      await world.run(minutes(30));
      const [before, pods] = [await certificate(world, "orders-ca"), await podUids({ world })];
      const writer = startWriter(stage);
      await rotate(stage, "second");
      await world.run(minutes(10));
      expect(await certificate(world, "orders-ca")).not.toBe(before);
      const restarted = await podUids({ world });
      expect(pods.some((uid) => restarted.includes(uid))).toBe(false);
      await expectHealthy(stage);
      await expectNothingLost(world, writer);
      writer.stop();
    }),
  );

  test(
    "come back when their Secret is deleted",
    scenario(5, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, on);
      await world.delete(Secret, "orders-client-tls");
      await world.patch(EtcdCluster, "orders", { metadata: { annotations: { touched: "once" } } });
      await world.run(minutes(1));
      expect(await certificate(world, "orders-client-tls")).toContain("CERTIFICATE");
      await expectHealthy(stage);
    }),
  );

  test(
    "do not overwrite a Secret of another owner, and no member starts",
    scenario(6, async (stage) => {
      const { world } = stage;
      await world.apply(Secret({ name: "orders-client-tls", stringData: { password: "theirs" } }));
      await world.apply(cluster("orders", on));
      await world.run(minutes(1));
      expect(await world.list(Pod)).toEqual([]);
      const { status } = await world.get(EtcdCluster, "orders");
      expect(status?.waitingFor?.what).toContain('Secret "orders-client-tls" belongs to another owner');
    }),
  );

  test(
    "of an authority that the user gave are signed by it",
    scenario(7, async (stage) => {
      const { world } = stage;
      const { certificate: crt, key } = simulatedIssuer.createAuthority(
        { commonName: "theirs", lifetimeMs: 1e11 },
        world.host,
      );
      await world.apply(
        Secret({ name: "our-ca", labels: mayBeAuthority, stringData: { "tls.crt": crt, "tls.key": key } }),
      );
      await bootstrap(stage, { tls: { mode: "Enabled", authoritySecret: "our-ca" } });
      await expectHealthy(stage);
      expect(simulatedIssuer.isIssuedBy(await certificate(world, "orders-peer-tls"), crt)).toBe(true);
    }),
  );

  test(
    "leave no key in status, events or pods",
    scenario(8, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, on);
      await rotate(stage, "first");
      await world.run(minutes(20));
      const shown = [await world.list(EtcdCluster), await world.list(Event), await world.list(Pod)];
      expect(JSON.stringify(shown)).not.toMatch(/PRIVATE KEY|key of/);
      expect(JSON.stringify(shown)).not.toContain(Buffer.from("-----BEGIN PRIVATE").toString("base64").slice(0, 20));
    }),
  );
});

describe("the mode", () => {
  test(
    "of a running cluster is refused to change, in both directions",
    scenario(9, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, on);
      await expect(world.patch(EtcdCluster, "orders", { spec: { tls: { mode: "Disabled" } } })).rejects.toThrow(
        "cannot change between plain and TLS",
      );
    }),
  );

  test(
    "of a cluster that was started without TLS stays so without the field",
    scenario(10, async (stage) => {
      const { world } = stage;
      await bootstrap(stage, { tls: { mode: "Disabled" }, size: 1 });
      await world.patch(EtcdCluster, "orders", { spec: { tls: null, size: 3 } });
      await world.settled();
      await expectHealthy(stage);
      expect((await world.get(EtcdCluster, "orders")).status?.tls).toBeUndefined();
      await expect(world.patch(EtcdCluster, "orders", { spec: { tls: { mode: "Enabled" } } })).rejects.toThrow(
        "cannot change between plain and TLS",
      );
    }),
  );
});
