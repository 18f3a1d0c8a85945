/**
 * Measures what admission costs a write: nothing registered, webhooks and policies that do not mean it, a
 * policy, and an operator's webhook over HTTPS on loopback. Run: node --conditions=@setpoint/source
 * bench/webhooks.ts [writes]
 */
import { CustomResourceDefinition } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import {
  bootstrap,
  builtinResources,
  createApiServer,
  createMemoryStorage,
  defaultAdmission,
  serveCustomResources,
  serveWebhooks,
  withCrdStrategy,
} from "@setpoint/apiserver";
import { httpsWebhookCaller, serviceEndpoints } from "@setpoint/apiserver/http";
import { createClient, type Client, type KindRef } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import { defineKind, defineOperator, rule, type Operator } from "setpoint";
import { admissionPolicy, webhooks } from "setpoint/webhooks";
import { serveOperatorWebhooks } from "setpoint/process";
import { z } from "zod";

const writes = Number(process.argv[2] ?? "5000");
const host = systemHost({ write: () => {} });

const kindOf = (kind: string) =>
  defineKind({ group: "bench.setpoint.dev", version: "v1", kind, spec: z.object({ replicas: z.int() }) });
const Candy = kindOf("Candy");
const Other = kindOf("Other");

async function cluster() {
  const storage = createMemoryStorage(host);
  const builtin = withCrdStrategy(builtinResources());
  const server = createApiServer({ host, storage, builtin, admission: defaultAdmission() });
  const caller = httpsWebhookCaller({ resolveService: serviceEndpoints(server.reader) });
  const custom = serveCustomResources(server, { host, storage, caller });
  const admission = serveWebhooks(server, { caller });
  await bootstrap({ storage, host });
  const client = createClient(server.transport({ username: "bench", groups: [] }), host);
  for (const kind of [Candy, Other]) await client.create(CustomResourceDefinition, kind.crd());
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

/** Policies and their bindings, as a cluster's administrator applies them. */
async function applyPolicies(client: Client, { policies }: Operator): Promise<void> {
  for (const object of policies.flatMap((each) => each.manifests())) {
    const plural = object.kind.endsWith("Binding")
      ? "validatingadmissionpolicybindings"
      : "validatingadmissionpolicies";
    const kind: KindRef = {
      group: "admissionregistration.k8s.io",
      version: "v1",
      kind: object.kind,
      plural,
      namespaced: false,
    };
    await client.create(kind, object as KubeObject);
  }
}

async function measure(what: string, operator?: Operator): Promise<void> {
  await using world = await cluster();
  const { client } = world;
  if (operator !== undefined) await applyPolicies(client, operator);
  const served = operator === undefined ? undefined : await serveOperatorWebhooks(operator, { client, host });
  const create = (name: string): Promise<unknown> =>
    client.create(Candy, Candy({ name, namespace: "default", spec: { replicas: 1 } }));
  for (let i = 0; i < writes / 10; i++) await create(`warm-${i}`);
  const startedMs = performance.now();
  for (let i = 0; i < writes; i++) await create(`candy-${i}`);
  const eachUs = ((performance.now() - startedMs) * 1_000) / writes;
  console.log(`${what}: ${eachUs.toFixed(0)} µs a create (${writes} one after the other)`);
  await served?.[Symbol.asyncDispose]();
}

const validate = { validate: () => undefined };
const few = rule("object.spec.replicas <= 100", "at most 100");
const operatorWith = (init: Partial<Parameters<typeof defineOperator>[0]>): Operator =>
  defineOperator({ name: "bench", controllers: [], ...init });

await measure("nothing registered");
await measure(
  "a webhook and a policy of another kind",
  operatorWith({ webhooks: [webhooks(Other, validate)], policies: [admissionPolicy(Other, [few])] }),
);
await measure("a policy", operatorWith({ policies: [admissionPolicy(Candy, [few])] }));
await measure("a validating webhook", operatorWith({ webhooks: [webhooks(Candy, validate)] }));
await measure(
  "a mutating and a validating webhook",
  operatorWith({ webhooks: [webhooks(Candy, { ...validate, mutate: () => undefined })] }),
);
