import { expect, test } from "vitest";
import { z } from "zod";
import { controller, defineKind, defineOperator, rule } from "./index.ts";
import { installManifests } from "./install/index.ts";
import { admissionPolicy, webhookConfigurations, webhooks } from "./webhooks/index.ts";

const PodSet = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "PodSet",
  spec: z.object({ replicas: z.int() }),
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
  controllers: [controller(PodSet, { reconcile: async () => undefined })],
  webhooks: [webhooks(PodSet, { validate: () => undefined, validateDelete: () => undefined })],
  policies: [admissionPolicy(PodSet, [rule("object.spec.replicas <= 100", "at most 100")])],
});

test("the configuration asks for what the author has a function for, and never about the operator's own namespace", () => {
  const client = (path: string) => ({ url: `https://127.0.0.1:9443${path}` });
  expect(webhookConfigurations(operator, { client, ownNamespace: "ops" })).toEqual([
    {
      apiVersion: "admissionregistration.k8s.io/v1",
      kind: "ValidatingWebhookConfiguration",
      metadata: { name: "podsets-webhooks" },
      webhooks: [
        {
          name: "validate.podsets.examples.setpoint.dev",
          admissionReviewVersions: ["v1"],
          sideEffects: "None",
          clientConfig: { url: "https://127.0.0.1:9443/validate/examples.setpoint.dev/podsets" },
          rules: [
            {
              apiGroups: ["examples.setpoint.dev"],
              apiVersions: ["v1"],
              resources: ["podsets"],
              operations: ["CREATE", "UPDATE", "DELETE"],
              scope: "Namespaced",
            },
          ],
          failurePolicy: "Fail",
          matchPolicy: "Equivalent",
          timeoutSeconds: 5,
          namespaceSelector: {
            matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "NotIn", values: ["ops"] }],
          },
        },
      ],
    },
  ]);
});

test("an installation brings the Service, the configurations and the policies, and converts by the Service", () => {
  const objects = installManifests(operator, { image: "podsets:1", namespace: "ops", extras: ["NetworkPolicy"] });
  const kinds = objects.map(({ kind }) => kind);
  expect(kinds).toEqual(
    expect.arrayContaining(["Service", "ValidatingWebhookConfiguration", "ValidatingAdmissionPolicyBinding"]),
  );
  const service = { name: "podsets-operator", namespace: "ops", path: "/convert", port: 443 };
  expect(objects.find(({ kind }) => kind === "CustomResourceDefinition")).toMatchObject({
    spec: { conversion: { strategy: "Webhook", webhook: { clientConfig: { service } } } },
  });
  expect(objects.find(({ kind }) => kind === "NetworkPolicy")).toMatchObject({
    spec: { ingress: [{ ports: [{ port: 8080 }, { port: 8443 }, { port: 9443 }] }] },
  });
});

test("an operator with webhooks may change its own configurations, CRDs and Secret, and no others", () => {
  expect(operator.rules).toEqual(
    expect.arrayContaining([
      {
        apiGroups: ["admissionregistration.k8s.io"],
        resources: ["validatingwebhookconfigurations"],
        resourceNames: ["podsets-webhooks"],
        verbs: ["patch"],
      },
      {
        apiGroups: ["apiextensions.k8s.io"],
        resources: ["customresourcedefinitions"],
        resourceNames: ["podsets.examples.setpoint.dev"],
        verbs: ["patch"],
      },
    ]),
  );
  expect(operator.ownRules).toEqual(
    expect.arrayContaining([
      {
        apiGroups: [""],
        resources: ["secrets"],
        resourceNames: ["podsets-webhooks"],
        verbs: ["get", "list", "watch", "update"],
      },
    ]),
  );
});

test("a policy is a ValidatingAdmissionPolicy with its binding", () => {
  expect(operator.policies[0]?.manifests()).toMatchObject([
    {
      kind: "ValidatingAdmissionPolicy",
      spec: { validations: [{ expression: "object.spec.replicas <= 100", message: "at most 100" }] },
    },
    {
      kind: "ValidatingAdmissionPolicyBinding",
      spec: { policyName: "podsets.examples.setpoint.dev", validationActions: ["Deny"] },
    },
  ]);
});

test("a policy is checked against the kind where it is defined", () => {
  expect(() => admissionPolicy(PodSet, [rule("object.spec.replica <= 100", "at most 100")])).toThrow(
    /Cannot define policy "podsets.examples.setpoint.dev": rule \[0\]: .*undefined field 'replica'/,
  );
  expect(() => admissionPolicy(PodSet, [rule("object.spec.replicas", "")])).toThrow("it is of type int, expected bool");
  expect(admissionPolicy(PodSet, [rule("object.metadata.labels['a'] == 'b'", "")]).name).toContain("podsets");
});

test("webhooks of one kind are declared once", () => {
  const one = webhooks(PodSet, { validate: () => undefined });
  expect(() => defineOperator({ name: "twice", controllers: [], webhooks: [one, one] })).toThrow(
    'Cannot define operator "twice": podsets.examples.setpoint.dev has webhooks twice, expected one definition a kind',
  );
});
