/**
 * Two CRDs of the size and shape of well-known public ones: a database cluster with pod templates, and an
 * alert pipeline.
 */
import { stringify } from "yaml";
import type { CrdSchema } from "./crd-schema.ts";

const string: CrdSchema = { type: "string" };
const integer: CrdSchema = { type: "integer" };
const boolean: CrdSchema = { type: "boolean" };
const intOrString = { anyOf: [integer, string], "x-kubernetes-int-or-string": true } as CrdSchema;
const labels: CrdSchema = { type: "object", additionalProperties: string };
const list = (items: CrdSchema): CrdSchema => ({ type: "array", items });
const map = (value: CrdSchema): CrdSchema => ({ type: "object", additionalProperties: value });
const object = (properties: Record<string, CrdSchema>, required: readonly string[] = []): CrdSchema => ({
  type: "object",
  properties,
  ...(required.length === 0 ? {} : { required }),
});

const keyRef = object({ key: string, name: { ...string, default: "" }, optional: boolean }, ["key"]);
const selector = object({
  matchLabels: labels,
  matchExpressions: list(object({ key: string, operator: string, values: list(string) }, ["key", "operator"])),
});
const probe = object({
  exec: object({ command: list(string) }),
  httpGet: object({ path: string, port: intOrString, scheme: string, host: string }, ["port"]),
  tcpSocket: object({ port: intOrString, host: string }, ["port"]),
  periodSeconds: integer,
  timeoutSeconds: integer,
  failureThreshold: integer,
});
const container = object(
  {
    name: { ...string, description: "Unique within the pod.\n\nCannot be changed; see */etc/hosts*/ for an odd path." },
    image: string,
    command: list(string),
    args: list(string),
    env: list(
      object(
        {
          name: string,
          value: string,
          valueFrom: object({
            configMapKeyRef: keyRef,
            secretKeyRef: keyRef,
            fieldRef: object({ apiVersion: string, fieldPath: string }, ["fieldPath"]),
          }),
        },
        ["name"],
      ),
    ),
    ports: list(
      object({ containerPort: integer, name: string, protocol: { ...string, enum: ["TCP", "UDP", "SCTP"] } }, [
        "containerPort",
      ]),
    ),
    resources: object({ limits: map(intOrString), requests: map(intOrString) }),
    livenessProbe: probe,
    readinessProbe: probe,
    volumeMounts: list(object({ name: string, mountPath: string, readOnly: boolean }, ["name", "mountPath"])),
    securityContext: object({
      runAsUser: integer,
      privileged: boolean,
      capabilities: object({ add: list(string), drop: list(string) }),
    }),
  },
  ["name"],
);
const affinityTerm = object({ labelSelector: selector, namespaces: list(string), topologyKey: string }, [
  "topologyKey",
]);
const conditions = list(
  object(
    {
      type: string,
      status: { ...string, enum: ["True", "False", "Unknown"] },
      reason: string,
      message: string,
      lastTransitionTime: { ...string, format: "date-time" } as CrdSchema,
      observedGeneration: integer,
    },
    ["type", "status", "reason", "message", "lastTransitionTime"],
  ),
);

const databaseSpec = object(
  {
    instances: { ...integer, default: 1, description: "How many members the cluster has." },
    mode: { ...string, enum: ["primary", "standby", "read only"], nullable: true },
    paused: { ...boolean, nullable: true },
    "x-vendor/flag": { ...string, enum: ["on"] },
    parameters: labels,
    limitsByTenant: map(object({ connections: integer, memory: intOrString }, ["connections"])),
    matrix: list(list({ ...integer, nullable: true })),
    weights: list({ type: "object", additionalProperties: { type: "number" }, nullable: true }),
    extra: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
    anything: { "x-kubernetes-preserve-unknown-fields": true },
    empty: { type: "object" },
    template: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      "x-kubernetes-preserve-unknown-fields": true,
    },
    podTemplate: object({
      metadata: object({ labels, annotations: labels }),
      spec: object({
        containers: list(container),
        initContainers: list(container),
        affinity: object({
          podAffinity: object({
            preferred: list(object({ weight: integer, term: affinityTerm })),
            required: list(affinityTerm),
          }),
          podAntiAffinity: object({
            preferred: list(object({ weight: integer, term: affinityTerm })),
            required: list(affinityTerm),
          }),
        }),
        nodeSelector: labels,
      }),
    }),
    backup: object({
      schedule: string,
      s3: object({ bucket: string, accessKey: keyRef, secretKey: keyRef }, ["bucket"]),
    }),
  },
  ["podTemplate"],
);

const alertSpec = object(
  {
    receivers: list(
      object(
        {
          name: string,
          emails: list(
            object({
              to: string,
              from: string,
              password: keyRef,
              headers: labels,
              tls: object({ ca: keyRef, serverName: string }),
            }),
          ),
          webhooks: list(
            object({
              url: string,
              bearer: keyRef,
              maxAlerts: integer,
              http: object({ proxy: string, basic: object({ user: keyRef, password: keyRef }) }),
            }),
          ),
          pagers: list(
            object({
              routingKey: keyRef,
              severity: { ...string, enum: ["info", "warning", "critical"] },
              details: labels,
            }),
          ),
        },
        ["name"],
      ),
    ),
    route: object({
      receiver: string,
      groupBy: list(string),
      matchers: list(
        object({ name: string, value: string, matchType: { ...string, enum: ["=", "!=", "=~", "!~"] } }, ["name"]),
      ),
      routes: list({ "x-kubernetes-preserve-unknown-fields": true }),
    }),
    storage: object({ emptyDir: { type: "object" }, size: intOrString, selector }),
    sidecars: list(container),
    init: list(container),
    workers: map(container),
  },
  ["receivers"],
);

function crd(group: string, kind: string, plural: string, scope: string, versions: readonly object[]): string {
  return stringify(
    {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `${plural}.${group}` },
      spec: { group, scope, names: { kind, plural }, versions },
    },
    { version: "1.1", aliasDuplicateObjects: false },
  );
}

const version = (name: string, storage: boolean, spec: CrdSchema, more: object = {}): object => ({
  name,
  served: true,
  storage,
  schema: {
    openAPIV3Schema: {
      ...object(
        {
          apiVersion: string,
          kind: string,
          metadata: { type: "object" },
          spec,
          status: object({ conditions, ready: integer }),
        },
        ["spec"],
      ),
      description: "What a person wants to have.",
    },
  },
  ...more,
});

export const databaseCrd: string = crd("db.example.com", "DatabaseCluster", "databaseclusters", "Namespaced", [
  version("v1beta1", false, databaseSpec, { deprecated: true, deprecationWarning: "Use v1." }),
  version("v1", true, databaseSpec),
]);

export const alertCrd: string = crd("alerts.example.com", "Kind", "kinds", "Cluster", [
  version("v1alpha1", true, alertSpec),
]);
