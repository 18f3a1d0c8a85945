/**
 * No sequence of requests that the server allows gives a subject a right that it neither held nor might hand
 * out.
 */
import type { ApiRequest, Transport, UserInfo } from "@setpoint/apimachinery";
import fc from "fast-check";
import { expect, test } from "vitest";
import { asking, startServer } from "../assembly/server.fixture.ts";
import { type PolicyRule, ruleLines, uncoveredRules } from "./policy-rule.ts";
import { RbacAuthorizer } from "./rbac-authorizer.ts";
import { createRbacEscalationPlugin } from "./rbac-escalation.ts";

const rbac = "rbac.authorization.k8s.io";
const admin: UserInfo = { username: "admin", groups: ["system:masters"] };
const mallory: UserInfo = { username: "mallory", groups: ["system:authenticated"] };
const bystander: UserInfo = { username: "bystander", groups: ["system:authenticated"] };
const root = `/apis/${rbac}/v1`;

const everything = { apiGroups: ["*"], resources: ["*"], verbs: ["*"] };
const secrets = { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] };
const pods = { apiGroups: [""], resources: ["pods"], verbs: ["get", "delete"] };
const podsNamed = { ...pods, resourceNames: ["web"] };
const healthz = { nonResourceURLs: ["/healthz*"], verbs: ["get"] };
/**
 * What Mallory works with: she may write roles and bindings, and may not `escalate`; she may bind
 * `secret-reader` alone.
 */
const tools = [
  {
    apiGroups: [rbac],
    resources: ["roles", "clusterroles", "rolebindings", "clusterrolebindings"],
    verbs: ["get", "list", "create", "update", "patch", "delete", "deletecollection"],
  },
  { apiGroups: [rbac], resources: ["clusterroles"], resourceNames: ["secret-reader"], verbs: ["bind"] },
];

function asRules(rules: readonly object[]): readonly PolicyRule[] {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] };
  return rules.map((rule) => ({ ...none, ...rule }) as unknown as PolicyRule);
}

const granted = [pods, podsNamed, healthz, ...tools];
/** The most that anybody may ever have: what Mallory held, and what she may bind. */
const ceiling = asRules([...granted, secrets]);

function clusterRole(name: string, rules: readonly object[], more: object = {}, labels = {}): object {
  return { apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name, labels }, rules, ...more };
}

function binding(kind: string, name: string, role: string, user: string, namespace?: string): object {
  return {
    apiVersion: `${rbac}/v1`,
    kind,
    metadata: { name, ...(namespace === undefined ? {} : { namespace }) },
    roleRef: { apiGroup: rbac, kind: "ClusterRole", name: role },
    subjects: [{ apiGroup: rbac, kind: "User", name: user }],
  };
}

const aggregation = { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: "yes" } }] } };

async function startWorld() {
  const { server, storage } = startServer();
  const authorizer = new RbacAuthorizer({ reader: server.reader, storage });
  server.setAuthorizer(authorizer);
  server.addAdmission(createRbacEscalationPlugin(authorizer));
  const asAdmin = asking(server, admin);
  const roles = [
    clusterRole("cluster-admin", [everything]),
    clusterRole("secret-reader", [secrets]),
    clusterRole("mallory", granted),
    clusterRole("collected", [], aggregation),
    clusterRole("pod-reader", [pods]),
  ];
  for (const role of roles) await asAdmin("POST", `${root}/clusterroles`, role);
  const bindings = [
    binding("ClusterRoleBinding", "mallory", "mallory", "mallory"),
    // What is collected reaches Mallory, so a label is as good as a rule.
    binding("ClusterRoleBinding", "collected", "collected", "mallory"),
    binding("ClusterRoleBinding", "dangling", "not-there-yet", "mallory"),
  ];
  for (const each of bindings) await asAdmin("POST", `${root}/clusterrolebindings`, each);
  return { authorizer, server };
}

const name = fc.constantFrom("cluster-admin", "secret-reader", "mallory", "collected", "not-there-yet", "own", "other");
const rules = fc.subarray([everything, secrets, pods, podsNamed, healthz], { maxLength: 2 });
const labels = fc.constantFrom({}, { part: "yes" });
const rule = fc.constantFrom(
  {},
  {},
  aggregation,
  { aggregationRule: { clusterRoleSelectors: [{}] } },
  { aggregationRule: null },
);
const user = fc.constantFrom("mallory", "bystander");
const method = fc.constantFrom<ApiRequest["method"]>("POST", "PUT", "PATCH");

interface Step {
  readonly method: ApiRequest["method"];
  readonly path: string;
  readonly name: string;
  readonly body?: object;
  readonly isApply?: boolean;
}

const wholeRoles = fc.record({ method, name, rules, labels, rule, isApply: fc.boolean() });
const steps = fc.oneof(
  wholeRoles.map((made): Step => {
    const body = clusterRole(made.name, made.rules, made.rule, made.labels);
    if (made.isApply) return { method: "PATCH", path: `${root}/clusterroles`, name: made.name, body, isApply: true };
    return { method: made.method, path: `${root}/clusterroles`, name: made.name, body };
  }),
  fc.record({ name, labels }).map((made): Step => {
    return {
      method: "PATCH",
      path: `${root}/clusterroles`,
      name: made.name,
      body: { metadata: { labels: made.labels } },
    };
  }),
  fc.record({ name, rule }).map((made): Step => {
    return { method: "PATCH", path: `${root}/clusterroles`, name: made.name, body: made.rule };
  }),
  fc.record({ method, name, role: name, user }).map((made): Step => {
    const body = binding("ClusterRoleBinding", made.name, made.role, made.user);
    return { method: made.method, path: `${root}/clusterrolebindings`, name: made.name, body };
  }),
  fc.record({ method, name, role: name, user }).map((made): Step => {
    const body = binding("RoleBinding", made.name, made.role, made.user, "shop");
    return { method: made.method, path: `${root}/namespaces/shop/rolebindings`, name: made.name, body };
  }),
  fc.record({ method, name, rules }).map((made): Step => {
    const metadata = { name: made.name, namespace: "shop" };
    const body = { apiVersion: `${rbac}/v1`, kind: "Role", metadata, rules: made.rules };
    return { method: made.method, path: `${root}/namespaces/shop/roles`, name: made.name, body };
  }),
  fc.record({ name, kind: fc.constantFrom("clusterroles", "clusterrolebindings") }).map((made): Step => {
    return { method: "DELETE", path: `${root}/${made.kind}`, name: made.name };
  }),
);

async function send(transport: Transport, { method, path, name: target, body, isApply }: Step): Promise<number> {
  const kind = isApply === true ? "apply-patch+yaml" : "merge-patch+json";
  const headers = { "content-type": method === "PATCH" ? `application/${kind}` : "application/json" };
  const query = isApply === true ? { fieldManager: "mallory", force: "true" } : {};
  const at = method === "POST" ? path : `${path}/${target}`;
  const answer = await transport.send({ method, path: at, headers, query, ...(body === undefined ? {} : { body }) });
  return answer.status;
}

test("no sequence of allowed writes of roles and bindings gives a right that was neither held nor bindable", async () => {
  const seen = { allowed: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 12 }), async (sequence) => {
      const { authorizer, server } = await startWorld();
      const transport = server.transport(mallory);
      for (const step of sequence) {
        const code = await send(transport, step);
        seen[code < 300 ? "allowed" : "refused"]++;
        for (const each of [mallory, bystander]) {
          for (const namespace of ["", "shop"]) {
            const gained = uncoveredRules(ceiling, authorizer.rulesFor(each, namespace));
            expect(ruleLines(gained), `${each.username} in "${namespace}"`).toEqual([]);
          }
        }
      }
      await server[Symbol.asyncDispose]();
      authorizer[Symbol.dispose]();
    }),
    { numRuns: 100, seed: 42 },
  );
  // A property over requests that are all refused, or all allowed, would say nothing.
  expect(seen.allowed).toBeGreaterThan(100);
  expect(seen.refused).toBeGreaterThan(100);
}, 60_000);
