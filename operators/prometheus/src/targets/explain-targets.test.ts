import { expect, test } from "vitest";
import { explainTargets } from "./explain-targets.ts";
import type { Candidate, DiscoveredFacts, StatedJob, TargetFacts, UserFacts } from "./target-facts.ts";

const pool = "serviceMonitor/shop/app/0";
const job: StatedJob = {
  ...{ field: "spec.endpoints[0]", pool, relabels: false },
  port: { field: "port", value: "web", of: "ports" },
};

function service(name: string, more: Partial<Candidate> = {}): Candidate {
  return {
    namespace: "shop",
    name,
    labels: { app: name },
    ports: [{ name: "web", number: 80 }],
    addresses: 2,
    ...more,
  };
}

function services(matching: readonly Candidate[], more: Partial<DiscoveredFacts> = {}): DiscoveredFacts {
  return {
    ...{ noun: "Service", selectorField: "spec.selector", selector: { matchLabels: { app: "app" } } },
    ...{ namespaces: ["shop"], missingNamespaces: [], matching, others: [] },
    ...more,
  };
}

function user(more: Partial<UserFacts> = {}, answer?: Partial<ReturnType<typeof report>>): UserFacts {
  const pools = new Map(answer === undefined ? [] : [[pool, { ...report(), ...answer }] as const]);
  return { name: "mon/main", mismatch: undefined, account: "mon/prometheus", pools, ...more };
}

function report() {
  return { active: 0, up: 0, unknown: 0, failures: [] as readonly { target: string; message: string }[] };
}

const one = services([service("app")]);
const nameless = { ports: [{ number: 80 }] };
const container = { ...job, port: { field: "targetPort", value: 81, of: "containerPorts" } } as const;
const behind = services([service("app", { containerPorts: [{ name: "web", number: 80 }] })]);
const refused = {
  active: 3,
  up: 1,
  failures: [{ target: "http://10.0.0.1/metrics", message: "server returned HTTP status 403 Forbidden" }],
};

const rows: readonly (readonly [situation: string, facts: Partial<TargetFacts>, told: string])[] = [
  [
    "no Prometheus",
    { users: [] },
    "False NotSelected: There is no Prometheus that could select the ServiceMonitor; create one with a selector for it",
  ],
  [
    "not selected",
    { users: [user({ mismatch: "because" })] },
    'False NotSelected: No Prometheus selects the ServiceMonitor: "mon/main": because',
  ],
  [
    "left out",
    { users: [user({ refusal: "spec.x: wrong" })] },
    "False LeftOut: Left out of the configuration: spec.x: wrong",
  ],
  ["no endpoint", { jobs: [] }, "False NothingStated: The ServiceMonitor states no endpoint"],
  ["all up", { users: [user({}, { active: 2, up: 2 })] }, "True TargetsUp: 2 of 2 targets are up"],
  [
    "refused",
    { users: [user({}, refused)] },
    "False ScrapeFailed: 2 of 3 targets are down: http://10.0.0.1/metrics: server returned HTTP status 403 Forbidden",
  ],
  [
    "not scraped",
    { users: [user({}, { active: 1, unknown: 1 })] },
    "Unknown NotScrapedYet: 1 target found, waiting for the first scrape",
  ],
  [
    "no right",
    { users: [user({ missingRights: ['list pods in namespace "shop"'] }, {})] },
    'False AccessDenied: ServiceAccount "mon/prometheus" of Prometheus may not list pods in namespace "shop"; grant it with a Role or ClusterRole',
  ],
  [
    "no namespace",
    { discovered: services([], { missingNamespaces: ["shop"] }) },
    'False NamespaceNotFound: Namespace "shop" does not exist; correct spec.namespaceSelector',
  ],
  [
    "wrong label",
    { discovered: services([], { others: [service("other", { labels: {} }), service("ap")] }) },
    'False NoServiceMatches: spec.selector (app=app) matches no Service in namespace "shop"; the nearest is "shop/other": label "app" is absent, expected "app"',
  ],
  [
    "no Service at all",
    { discovered: services([]) },
    'False NoServiceMatches: spec.selector (app=app) matches no Service in namespace "shop"; there is none',
  ],
  [
    "no endpoints",
    { discovered: services([service("app", { addresses: 0 })]) },
    'False NoEndpoints: 1 Service matches in namespace "shop" (app) with 0 endpoints, so there is no target: the selector of the Service matches no ready pod',
  ],
  [
    "wrong port",
    { discovered: services([service("app", { ports: [{ name: "http" }, { name: "grpc" }] })]) },
    'False PortNotFound: 1 Service matches in namespace "shop" (app) with 2 endpoints, but spec.endpoints[0].port "web" is no port; there are "http", "grpc"',
  ],
  [
    "nameless port",
    { discovered: services([service("app", nameless)]) },
    'False PortNotFound: 1 Service matches in namespace "shop" (app) with 2 endpoints, but spec.endpoints[0].port "web" is no port; there is 80 without a name',
  ],
  [
    "wrong target port",
    { discovered: behind, jobs: [container] },
    'False PortNotFound: 1 Service matches in namespace "shop" (app) with 2 endpoints, but spec.endpoints[0].targetPort 81 is no port of a container; there is "web"',
  ],
  [
    "dropped",
    { users: [user({}, {})], jobs: [{ ...job, relabels: true }] },
    'False AllDropped: 1 Service matches in namespace "shop" (app) with 2 endpoints, but Prometheus has no target: spec.endpoints[0].relabelings drop all, or it has not found them yet',
  ],
  [
    "too early",
    { users: [user({}, {})] },
    'Unknown NotFoundYet: 1 Service matches in namespace "shop" (app) with 2 endpoints, but Prometheus has not found them yet',
  ],
  [
    "no answer",
    { users: [user({ silence: "no pod of it is ready" })] },
    'Unknown NotAsked: 1 Service matches in namespace "shop" (app) with 2 endpoints; no pod of it is ready',
  ],
  [
    "addresses of its own",
    { discovered: undefined, stated: 2, users: [user({}, {})] },
    "Unknown NotFoundYet: The ServiceMonitor names 2 addresses, but Prometheus has not found them yet",
  ],
  [
    "two Prometheuses",
    { users: [user({}, { active: 1, up: 1 }), user({ name: "mon/b", refusal: "no" })] },
    'False LeftOut: Prometheus "mon/b": Left out of the configuration: no',
  ],
  [
    "two jobs",
    {
      users: [user({}, { active: 1, up: 1 })],
      jobs: [job, { ...job, field: "spec.endpoints[1]", pool: "b", port: { field: "port", value: "x", of: "ports" } }],
    },
    'False PortNotFound: spec.endpoints[1]: 1 Service matches in namespace "shop" (app) with 2 endpoints, but spec.endpoints[1].port "x" is no port; there is "web"',
  ],
];

test.each(rows)("%s", (_, facts, told) => {
  const all = { kind: "ServiceMonitor", users: [user()], jobs: [job], discovered: one, ...facts };
  const { status, reason, message } = explainTargets(all);
  expect(`${status} ${reason}: ${message}`).toBe(told);
});
