import { Secret } from "@setpoint/api";
import { bootstrap, builtinResources, createApiServer, createMemoryStorage } from "@setpoint/apiserver";
import { createClient } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";
import { expect, test } from "vitest";
import { secretStore } from "./certificate-store.ts";
import { WebhookCertificates } from "./webhook-certificates.ts";

const key = { namespace: "default", name: "podsets-webhooks" };
const day = 86_400_000;
const times = { authorityDays: 365, servingDays: 90, overlapMs: 600_000 };

/** Replicas of one operator that share a Secret, and every bundle that they publish to API servers. */
async function world() {
  const host = simulatedHost(1, Date.UTC(2026, 0, 1));
  const storage = createMemoryStorage(host);
  const server = createApiServer({ host, storage, builtin: builtinResources() });
  await bootstrap({ storage, host });
  const client = createClient(server.transport({ username: "operator", groups: [] }), host);
  const bundles: string[] = [];
  /** What happened, in order. */
  const story: string[] = [];
  /** The API server refuses the trust bundle. */
  const refusal = { isOn: false };
  const replica = async (lives = times) => {
    const served: string[] = [];
    const certificates = await WebhookCertificates.start({
      host,
      store: secretStore(client, host, key),
      hosts: ["podsets-operator.default.svc"],
      times: lives,
      publish: async (bundle) => {
        if (refusal.isOn) throw new Error("the API server is away");
        bundles.push(bundle);
        story.push("published");
      },
      onServing: ({ certificate }) => {
        served.push(certificate);
        story.push("served");
      },
    });
    return { certificates, served };
  };
  return { host, client, replica, bundles, story, refusal };
}

const count = (bundle: string | undefined): number => bundle?.match(/BEGIN CERTIFICATE/g)?.length ?? 0;

test("replicas that start together serve one certificate, from one Secret", async () => {
  const { client, replica } = await world();
  const [one, two] = await Promise.all([replica(), replica()]);
  await using _one = one.certificates;
  await using _two = two.certificates;
  expect(one.served.at(-1)).toBe(two.served.at(-1));
  const { data } = await client.get(Secret, key);
  expect(Object.keys(data ?? {}).toSorted()).toEqual(["ca.crt", "state.json", "tls.crt", "tls.key"]);
});

test("what one replica replaces, the others serve without being told", async () => {
  const { host, replica, bundles } = await world();
  const one = await replica();
  const two = await replica();
  await using _one = one.certificates;
  await using _two = two.certificates;
  await host.clock.run(1_000);
  await one.certificates.rotate();
  expect(count(bundles.at(-1))).toBe(2);
  expect(two.served.length).toBe(1);
  await host.clock.run(times.overlapMs + 1_000);
  expect(two.served.length).toBe(2);
  expect(two.served.at(-1)).toBe(one.served.at(-1));
  expect(count(bundles.at(-1))).toBe(2);
  await host.clock.run(times.overlapMs + 1_000);
  expect(count(bundles.at(-1))).toBe(1);
});

test("an authority that could not be published is published soon, not at the next look in a day", async () => {
  const { host, replica, bundles, refusal } = await world();
  const { certificates } = await replica();
  await using _certificates = certificates;
  await host.clock.run(1_000);
  refusal.isOn = true;
  await expect(certificates.rotate()).rejects.toThrow("the API server is away");
  await host.clock.run(1_000);
  refusal.isOn = false;
  await host.clock.run(30_000);
  expect(count(bundles.at(-1))).toBe(2);
});

test("after the Secret was deleted, no replica serves the new certificate before its authority is published", async () => {
  const { host, client, replica, story, refusal } = await world();
  const one = await replica();
  const two = await replica();
  await using _one = one.certificates;
  await using _two = two.certificates;
  await host.clock.run(1_000);
  await client.delete(Secret, key);
  story.length = 0;
  refusal.isOn = true;
  await host.clock.run(day + 60_000);
  expect(story).toEqual([]);
  refusal.isOn = false;
  await host.clock.run(60_000);
  expect(story[0]).toBe("published");
  expect(story.filter((each) => each === "served").length).toBe(2);
  expect(one.served.at(-1)).toBe(two.served.at(-1));
});

test("certificates and authorities follow each other as long as the operator runs", async () => {
  const { host, replica, bundles } = await world();
  const { certificates, served } = await replica({ authorityDays: 30, servingDays: 9, overlapMs: 600_000 });
  await using _certificates = certificates;
  await host.clock.run(45 * day);
  expect(served.length).toBeGreaterThanOrEqual(7);
  expect(new Set(bundles).size).toBeGreaterThanOrEqual(6);
});

test("a Secret that is damaged is named, with what helps", async () => {
  const { client, replica } = await world();
  await client.create(Secret, Secret({ ...key, data: { "state.json": btoa("{") } }));
  await expect(replica()).rejects.toThrow(
    'Cannot read Secret "podsets-webhooks": "state.json" is damaged; delete the Secret, and new certificates are made',
  );
});
