/** The images that the operator lists are those of the pods that it makes, in the simulated world. */
import { Backup, Restore, simulatedIssuer } from "@setpoint/data-service";
import { Pod } from "setpoint/kinds";
import { installManifests, relatedImageVariable } from "setpoint/install";
import { EtcdModel, simulate, simulatedOperatorImage, TransferModel, type World } from "setpoint/testing";
import { expect, test } from "vitest";
import { EtcdCluster } from "./kind/etcd-cluster.ts";
import { etcdOperator } from "./etcd-operator.ts";
import { httpGateway } from "./gateway/http-gateway.ts";
import { listedVersions, type PinnedImages, pinnedImages, relatedImages } from "./kind/related-images.ts";
import { claims, cluster } from "./testing/etcd-stage.ts";
import { vault } from "./testing/store-vault.ts";
import { simulatedGateway } from "./testing/simulated-gateway.ts";

/** Notes the image of each container that starts. */
class WatchedEtcd extends EtcdModel {
  readonly images = new Set<string>();

  override start(launch: Parameters<EtcdModel["start"]>[0]): ReturnType<EtcdModel["start"]> {
    this.images.add(launch.image);
    return super.start(launch);
  }
}

class WatchedTransfers extends TransferModel {
  readonly images = new Set<string>();

  override start(launch: Parameters<TransferModel["start"]>[0]): ReturnType<TransferModel["start"]> {
    this.images.add(launch.image);
    return super.start(launch);
  }
}

async function setUp(seed: number, pinned: PinnedImages = new Map()) {
  const etcd = new WatchedEtcd();
  const transfers = new WatchedTransfers({
    etcd: (from) => etcd.snapshot((from as { readonly endpoints: readonly string[] }).endpoints),
  });
  const world: World = await simulate({
    seed,
    models: [etcd, transfers],
    operators: [
      (process) =>
        etcdOperator(
          simulatedGateway(etcd, process),
          { pinnedImages: pinned },
          simulatedOperatorImage,
          simulatedIssuer,
        ),
    ],
  });
  return { world, etcd, transfers };
}

test("clusters, backups and restores of all listed versions start the listed images and no others", async () => {
  const { world, etcd, transfers } = await setUp(701);
  await using _ = world;
  for (const object of vault) await world.apply(object);
  for (const [at, version] of listedVersions.entries()) {
    const name = `orders-${at}`;
    const instance = { apiGroup: "etcd.setpoint.dev", kind: "EtcdCluster", name };
    await world.apply(cluster(name, { ...claims, version, size: 1 }));
    await world.settled();
    await world.apply(Backup({ name, spec: { instance, store: "vault" } }));
    await world.settled();
    await world.apply(
      Restore({ name, spec: { source: { backup: name }, newInstance: { name: `copy-${at}` }, instance } }),
    );
    await world.settled();
    expect((await world.get(Restore, name)).status).toMatchObject({ phase: "Succeeded" });
  }
  expect([...etcd.images].sort()).toEqual(relatedImages.map(({ image }) => image).sort());
  // The operator's own image, which the manifests name.
  expect([...transfers.images]).toEqual([simulatedOperatorImage]);
});

test("the Deployment names each listed image in a variable, and the operator takes it from there", () => {
  const objects = installManifests(etcdOperator(httpGateway()), { image: "operator:1", namespace: "system" });
  const deployment = objects.find(({ kind }) => kind === "Deployment") as {
    readonly spec?: {
      readonly template: {
        readonly spec: {
          readonly containers: readonly {
            readonly env: readonly { readonly name: string; readonly value?: string }[];
          }[];
        };
      };
    };
  };
  const env = deployment.spec?.template.spec.containers[0]?.env ?? [];
  const environment = Object.fromEntries(env.map(({ name, value }) => [name, value]));
  expect([...pinnedImages(environment)].map(([, image]) => image)).toEqual(relatedImages.map(({ image }) => image));
});

test("an image in a variable takes the place of the usual one, at the start and in an upgrade", async () => {
  const at = (version: string): string => `mirror.example.com/apps/etcd:v${version}`;
  const environment = { RELATED_IMAGE_ETCD_3_4_23: at("3.4.23"), RELATED_IMAGE_ETCD_3_5_16: at("3.5.16") };
  expect(relatedImageVariable("etcd-3.4.23")).toBe("RELATED_IMAGE_ETCD_3_4_23");
  const { world } = await setUp(702, pinnedImages(environment));
  await using _ = world;
  const images = async (): Promise<readonly unknown[]> =>
    (await world.list(Pod)).map(({ spec }) => spec?.containers[0]?.image);
  await world.apply(cluster("orders"));
  await world.settled();
  expect(await images()).toEqual([at("3.4.23"), at("3.4.23"), at("3.4.23")]);
  await world.patch(EtcdCluster, "orders", { spec: { version: "3.5.16" } });
  await world.settled();
  expect(await images()).toEqual([at("3.5.16"), at("3.5.16"), at("3.5.16")]);
  await world.expectQuiet();
});
