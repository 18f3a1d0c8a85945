import { expect, onTestFinished, test } from "vitest";
import { namespaceLifecycle } from "../admission/namespace-lifecycle.ts";
import { builtinResources } from "../registry/builtin/builtin-resources.ts";
import { serveCustomResources, withCrdStrategy } from "../assembly/serve-custom-resources.ts";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { serveWebhooks } from "../assembly/serve-webhooks.ts";

interface Seen {
  readonly message?: string;
  readonly items?: readonly object[];
}

/** A server whose webhook answers when the test releases it. */
function world() {
  const builtin = withCrdStrategy(builtinResources());
  const { host, storage, server } = startServer({ builtin, admission: [namespaceLifecycle] });
  const custom = serveCustomResources(server, { host, storage });
  onTestFinished(() => custom.stop());
  const asked = Promise.withResolvers<void>();
  const letGo = Promise.withResolvers<void>();
  serveWebhooks(server, {
    caller: {
      async call({ body }) {
        const { request } = body as unknown as { readonly request: { readonly uid: string } };
        asked.resolve();
        await letGo.promise;
        const response = { uid: request.uid, allowed: true };
        return {
          status: 200,
          text: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response }),
        };
      },
    },
  });
  const ask = asking<Seen>(server, { username: "ada", groups: ["system:masters"] });
  const guard = (apiGroup: string, resource: string): Promise<unknown> =>
    ask("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "guard" },
      webhooks: [
        {
          name: "guard.example.com",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: "https://guard/hook" },
          rules: [{ apiGroups: [apiGroup], apiVersions: ["v1"], operations: ["CREATE"], resources: [resource] }],
        },
      ],
    });
  return { ask, storage, guard, asked: asked.promise, letGo: () => letGo.resolve() };
}

test("what waits for a webhook while its namespace goes is not created", async () => {
  const { ask, storage, guard, asked, letGo } = world();
  await ask("POST", "/api/v1/namespaces", { metadata: { name: "n" } });
  await guard("", "configmaps");
  const created = ask("POST", "/api/v1/namespaces/n/configmaps", { metadata: { name: "a" } });
  await asked;
  await ask("DELETE", "/api/v1/namespaces/n");
  await ask("PUT", "/api/v1/namespaces/n/finalize", { metadata: { name: "n" }, spec: {} });
  letGo();
  const { code, body } = await created;
  expect([code, body.message]).toEqual([404, 'namespaces "n" not found']);
  expect(storage.list("/configmaps").objects).toEqual([]);
});

const crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

test("what waits for a webhook while its CRD goes is not created, and is not there when the CRD comes again", async () => {
  const { ask, storage, guard, asked, letGo } = world();
  const openAPIV3Schema = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
  const versions = [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema } }];
  const names = { plural: "widgets", kind: "Widget" };
  const crd = {
    metadata: { name: "widgets.example.com" },
    spec: { group: "example.com", scope: "Cluster", names, versions },
  };
  await ask("POST", crds, crd);
  await guard("example.com", "widgets");
  const widget = { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "a" } };
  const created = ask("POST", "/apis/example.com/v1/widgets", widget);
  await asked;
  await ask("DELETE", `${crds}/widgets.example.com`);
  await expect.poll(async () => (await ask("GET", `${crds}/widgets.example.com`)).code).toBe(404);
  letGo();
  const { code, body } = await created;
  expect([code, body.message]).toEqual([404, "the server could not find the requested resource"]);
  expect(storage.list("/example.com/widgets").objects).toEqual([]);
});
