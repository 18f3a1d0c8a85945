import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConfigMap,
  CustomResourceDefinition,
  EndpointSlice,
  Namespace,
  Service,
  ValidatingWebhookConfiguration,
} from "@setpoint/api";
import { isApiError, type KubeObject } from "@setpoint/apimachinery";
import {
  bootstrap,
  builtinEndpoints,
  builtinResources,
  createApiServer,
  createMemoryStorage,
  defaultAdmission,
  serveCustomResources,
  serveWebhooks,
  withCrdStrategy,
} from "@setpoint/apiserver";
import { httpsWebhookCaller, serviceEndpoints } from "@setpoint/apiserver/http";
import { type Client, createClient, type KindRef } from "@setpoint/client";
import { noMetrics, silentLogger, sleep } from "@setpoint/host";
import { systemClock, systemRandom } from "@setpoint/host/system";
import { createCertificateAuthority } from "@setpoint/host/certificates";
import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { defineKind, defineOperator } from "../index.ts";
import { webhooks } from "../webhooks/index.ts";
import type { CertificateTimes } from "./certificate-plan.ts";
import { webhookConfigurations } from "../webhook-manifests.ts";
import { serveInstalledWebhooks } from "./installed-webhooks.ts";
import { serveOperatorWebhooks } from "./operator-webhooks.ts";

const host = { clock: systemClock, random: systemRandom, log: silentLogger, metrics: noMetrics };
const admin = { username: "admin", groups: ["system:masters"] };

/** An embedded API server that calls webhooks over HTTPS. */
async function embedded() {
  const storage = createMemoryStorage(host);
  const builtin = withCrdStrategy(builtinResources());
  const server = createApiServer({ host, storage, builtin, admission: defaultAdmission() });
  const caller = httpsWebhookCaller({ resolveService: serviceEndpoints(server.reader) });
  const custom = serveCustomResources(server, { host, storage, caller });
  const admission = serveWebhooks(server, { caller });
  server.addEndpoints(builtinEndpoints({ host, reader: server.reader, storage }));
  await bootstrap({ storage, host });
  const client = createClient(server.transport(admin), host);
  await client.create(Namespace, Namespace({ name: "default" })).catch(() => undefined);
  return {
    client,
    async [Symbol.asyncDispose]() {
      admission[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
      await custom.stop();
      caller[Symbol.dispose]();
      await storage[Symbol.asyncDispose]();
    },
  };
}

const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  spec: z.object({ replicas: z.int(), color: z.string().optional(), paused: z.boolean().optional() }),
  versions: {
    v1beta1: {
      spec: z.object({ size: z.int() }),
      up: ({ size }) => ({ replicas: size }),
      down: ({ replicas }) => ({ size: replicas }),
    },
  },
});

const operator = defineOperator({
  name: "podsets",
  controllers: [],
  webhooks: [
    webhooks(PodSet, {
      mutate: (podSet) => ({ ...podSet, spec: { color: "blue", ...podSet.spec } }),
      validate({ spec }, { invalid, warn }) {
        if (spec.replicas % 2 === 0) invalid("spec.replicas", "must be odd");
        if (spec.replicas > 5) warn("that is a lot");
      },
    }),
  ],
});

interface Beta extends KubeObject {
  readonly spec: { readonly size: number };
}
/** The kind in its old version, as a client of that version knows it. */
const { group, kind, plural, namespaced } = PodSet;
const BetaPodSet: KindRef<Beta> = { group, version: "v1beta1", kind, plural, namespaced };

function beta(name: string, size: number): Beta {
  return { apiVersion: `${group}/v1beta1`, kind, metadata: { name, namespace: "default" }, spec: { size } };
}

async function messageOf(request: Promise<unknown>): Promise<string> {
  return request.then(
    () => "accepted",
    (error: unknown) => (isApiError(error) ? error.message : String(error)),
  );
}

async function running(times?: CertificateTimes) {
  const cluster = await embedded();
  const { client } = cluster;
  for (const crd of operator.crds()) await client.create(CustomResourceDefinition, crd);
  const served = await serveOperatorWebhooks(operator, {
    client,
    host,
    ...(times === undefined ? {} : { times }),
  });
  if (served === undefined) throw new Error("nothing is served");
  return { client, cluster, served };
}

test("an operator's functions decide about writes, and convert between its versions", async () => {
  const { client, cluster, served } = await running();
  await using _cluster = cluster;
  await using _served = served;
  const made = await client.create(PodSet, PodSet({ name: "web", namespace: "default", spec: { replicas: 3 } }));
  expect(made.spec).toEqual({ replicas: 3, color: "blue" });
  const even = client.create(PodSet, PodSet({ name: "even", namespace: "default", spec: { replicas: 2 } }));
  expect(await messageOf(even)).toBe(
    'admission webhook "validate.podsets.examples.setpoint.dev" denied the request: ' +
      'PodSet.examples.setpoint.dev "even" is invalid: spec.replicas: Invalid value: 2: must be odd',
  );
  expect(await messageOf(client.create(BetaPodSet, beta("even", 4)))).toContain("must be odd");
  const old = await client.create(BetaPodSet, beta("old", 5));
  expect(old.spec).toEqual({ size: 5 });
  expect((await client.get(PodSet, { namespace: "default", name: "old" })).spec).toEqual({
    replicas: 5,
    color: "blue",
  });
  const list = await client.list(BetaPodSet, { namespace: "default" });
  expect(list.items.map(({ spec }) => spec)).toEqual([{ size: 5 }, { size: 3 }]);
  await client.create(ConfigMap, ConfigMap({ name: "other", namespace: "default" }));
});

/** The authorities that the API server trusts, as certificates in PEM. */
async function trusted(client: Client): Promise<readonly string[]> {
  const crd = await client.get(CustomResourceDefinition, { name: `${plural}.${group}` });
  const bundle = crd.spec.conversion?.webhook?.clientConfig?.caBundle ?? "";
  const pem = Buffer.from(bundle, "base64").toString("utf8");
  return pem.match(/-----BEGIN[^]*?-----END CERTIFICATE-----/g) ?? [];
}

test("a new authority replaces the old one under a stream of calls, and none is lost", async () => {
  const { client, cluster, served } = await running({ authorityDays: 30, servingDays: 10, overlapMs: 300 });
  await using _cluster = cluster;
  await using _served = served;
  const stop = new AbortController();
  const failures: string[] = [];
  let calls = 0;
  const caller = async (worker: number): Promise<void> => {
    while (!stop.signal.aborted) {
      const message = await messageOf(client.create(BetaPodSet, beta(`w-${worker}-${++calls}`, 3)));
      if (message !== "accepted") failures.push(message);
    }
  };
  const callers = [1, 2].map(caller);
  const [first] = await trusted(client);
  await served.rotate();
  const counts = [(await trusted(client)).length];
  while (counts.at(-1) !== 1) {
    await sleep(systemClock, 10);
    counts.push((await trusted(client)).length);
  }
  const [last] = await trusted(client);
  // The machine may be busy; what counts is that calls were made before, meanwhile and after.
  const during = calls;
  while (calls < during + 3) await sleep(systemClock, 10);
  stop.abort();
  await Promise.all(callers);
  expect(failures).toEqual([]);
  expect(during).toBeGreaterThan(3);
  expect(counts[0]).toBe(2);
  expect(last).not.toBe(first);
});

test("in a cluster API servers call its Service, until they have heard that it leaves", async () => {
  await using cluster = await embedded();
  const { client } = cluster;
  const namespace = "ops";
  await client.create(Namespace, Namespace({ name: namespace }));
  for (const crd of operator.crds()) await client.create(CustomResourceDefinition, crd);
  const where = { client, host, namespace, address: "127.0.0.1", port: 0, leavingMs: 200 };
  const served = await serveOperatorWebhooks(operator, where);
  const port = served?.port ?? 0;
  const name = "podsets-operator";
  const ports = [{ name: "webhooks", port: 443, targetPort: port }];
  await client.create(Service, Service({ name, namespace, spec: { ports } }));
  const create = (object: string) =>
    messageOf(client.create(PodSet, PodSet({ name: object, namespace: "default", spec: { replicas: 3 } })));
  expect(await create("early")).toContain('no endpoints available for service "podsets-operator"');
  await client.create(
    EndpointSlice,
    EndpointSlice({
      name,
      namespace,
      labels: { "kubernetes.io/service-name": name },
      addressType: "IPv4",
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
      ports: [{ name: "webhooks", port }],
    }),
  );
  expect(await create("called")).toBe("accepted");
  // Nothing in the operator's own namespace needs the operator.
  const own = PodSet({ name: "own", namespace, spec: { replicas: 2 } });
  expect(await messageOf(client.create(PodSet, own))).toBe("accepted");
  const left = served?.[Symbol.asyncDispose]();
  expect(await create("late")).toBe("accepted");
  await left;
  expect(await create("after")).toContain("failed calling webhook");
});

test("when the operator stops on a desk, its webhooks block nobody", async () => {
  const { client, cluster, served } = await running();
  await using _cluster = cluster;
  await served[Symbol.asyncDispose]();
  const made = await client.create(PodSet, PodSet({ name: "even", namespace: "default", spec: { replicas: 2 } }));
  expect(made.spec).toEqual({ replicas: 2 });
});

test("with an installer's certificate an operator serves it, registers nothing, and serves the next one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "setpoint-webhooks-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = { certificateFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  /** Writes a certificate of another authority into the files; returns whom to trust. */
  const issue = (commonName: string): string => {
    const authority = createCertificateAuthority({ ...host, commonName });
    const { certificate, key } = authority.issueServer({ commonName: "webhooks", hosts: ["127.0.0.1"] });
    writeFileSync(files.certificateFile, certificate);
    writeFileSync(files.keyFile, key);
    return Buffer.from(authority.certificate).toString("base64");
  };
  await using cluster = await embedded();
  const { client } = cluster;
  for (const crd of operator.crds()) await client.create(CustomResourceDefinition, crd);
  const first = issue("first");
  const where = { host, files, address: "127.0.0.1", port: 0, leavingMs: 0, lookMs: 20 };
  await using served = await serveInstalledWebhooks(operator, where);
  expect(await client.list(ValidatingWebhookConfiguration)).toMatchObject({ items: [] });
  /** As the installer does. */
  const register = async (caBundle: string): Promise<void> => {
    const clientAt = (path: string) => ({ url: `https://127.0.0.1:${served.port}${path}`, caBundle });
    for (const object of webhookConfigurations(operator, { client: clientAt }))
      if (object.kind === "ValidatingWebhookConfiguration")
        await client.apply(ValidatingWebhookConfiguration, object, { fieldManager: "installer", force: true });
  };
  const even = PodSet({ name: "even", namespace: "default", spec: { replicas: 2 } });
  await register(first);
  expect(await messageOf(client.create(PodSet, even))).toContain("must be odd");
  await register(issue("second"));
  await expect.poll(() => messageOf(client.create(PodSet, even))).toContain("must be odd");
});
