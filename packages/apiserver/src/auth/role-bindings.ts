/** Roles and bindings as stored, compiled to rules by subject. */
import { asText } from "./read-json.ts";
import { aggregationSelectors } from "./aggregation.ts";
import { matchesLabelSelector, type UnstructuredObject } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { AuthorizationDecision } from "../request/request-attributes.ts";
import { type PolicyRule, readRules } from "./policy-rule.ts";

export const rbacGroup = "rbac.authorization.k8s.io";

/**
 * What the bindings of one scope grant to one subject; `missing` names roles that are bound but not there.
 */
export interface Grant {
  readonly rules: readonly PolicyRule[];
  readonly missing: readonly string[];
  /** The decision for users that it allows; created once, because every request returns it. */
  readonly decision?: AuthorizationDecision;
}

/**
 * One subject of one binding. Its rules are resolved at its first request, since most subjects never send
 * one.
 */
export class BoundSubject {
  readonly #reader: ObjectReader;
  readonly #binding: UnstructuredObject;
  readonly #subject: Subject;
  readonly #namespace: string;
  #grant: Grant | undefined;

  constructor(reader: ObjectReader, binding: UnstructuredObject, subject: Subject, namespace: string) {
    this.#reader = reader;
    this.#binding = binding;
    this.#subject = subject;
    this.#namespace = namespace;
  }

  get grant(): Grant {
    this.#grant ??= {
      ...grantOf(this.#reader, readRoleRef(this.#binding), this.#namespace),
      decision: decisionOf(this.#binding, this.#subject),
    };
    return this.#grant;
  }
}

/** By name; service accounts are users by their long name. */
export interface SubjectIndex {
  readonly users: ReadonlyMap<string, readonly BoundSubject[]>;
  readonly groups: ReadonlyMap<string, readonly BoundSubject[]>;
}

export interface RoleRef {
  readonly kind: string;
  readonly name: string;
}

/**
 * Grants of all ClusterRoleBindings, or of the RoleBindings of one namespace; outdated when one of them
 * changes, or a role.
 */
export function compileBindings(reader: ObjectReader, namespace: string): SubjectIndex {
  const users = new Map<string, BoundSubject[]>();
  const groups = new Map<string, BoundSubject[]>();
  const resource = namespace === "" ? "clusterrolebindings" : "rolebindings";
  for (const binding of reader.list(rbacGroup, resource, namespace === "" ? undefined : namespace)) {
    for (const { subject, isGroup, name } of namedSubjectsOf(binding, namespace)) {
      const ofKind = isGroup ? groups : users;
      const bound = new BoundSubject(reader, binding, subject, namespace);
      const others = ofKind.get(name);
      if (others === undefined) ofKind.set(name, [bound]);
      else others.push(bound);
    }
  }
  return { users, groups };
}

export function grantOf(reader: ObjectReader, ref: RoleRef, namespace: string): Grant {
  const isCluster = ref.kind === "ClusterRole";
  const role = isCluster
    ? reader.get(rbacGroup, "clusterroles", "", ref.name)
    : reader.get(rbacGroup, "roles", namespace, ref.name);
  if (role === undefined) {
    const kind = isCluster ? "clusterrole" : "role";
    return { rules: [], missing: [`${kind}.${rbacGroup} ${JSON.stringify(ref.name)} not found`] };
  }
  return { rules: isCluster ? rulesOfClusterRole(reader, role) : readRules(role), missing: [] };
}

/** The rules of a cluster role; those of an aggregated one are those of the roles that its selectors pick. */
export function rulesOfClusterRole(reader: ObjectReader, role: UnstructuredObject): readonly PolicyRule[] {
  return aggregate(reader, role, new Set([role.metadata.name ?? ""]));
}

function aggregate(reader: ObjectReader, role: UnstructuredObject, seen: Set<string>): readonly PolicyRule[] {
  const selectors = aggregationSelectors(role);
  if (selectors.length === 0) return readRules(role);
  const rules: PolicyRule[] = [];
  for (const candidate of reader.list(rbacGroup, "clusterroles")) {
    const name = candidate.metadata.name ?? "";
    if (seen.has(name) || !selectors.some((each) => matchesLabelSelector(each, candidate.metadata.labels ?? {})))
      continue;
    seen.add(name);
    rules.push(...aggregate(reader, candidate, seen));
  }
  return rules;
}

export function readRoleRef(binding: UnstructuredObject): RoleRef {
  const ref = (binding["roleRef"] ?? {}) as Readonly<Record<string, unknown>>;
  return { kind: String(ref["kind"]), name: String(ref["name"]) };
}

type Subject = Readonly<Record<string, unknown>>;

function subjectsOf(binding: UnstructuredObject): readonly Subject[] {
  const subjects = binding["subjects"];
  return Array.isArray(subjects) ? (subjects as readonly Subject[]) : [];
}

interface NamedSubject {
  readonly subject: Subject;
  readonly isGroup: boolean;
  /** Under which it asks. */
  readonly name: string;
}

function namedSubjectsOf(binding: UnstructuredObject, bindingNamespace: string): readonly NamedSubject[] {
  return subjectsOf(binding)
    .filter(({ kind }) => kind === "User" || kind === "ServiceAccount" || kind === "Group")
    .map((subject) => ({
      subject,
      isGroup: subject["kind"] === "Group",
      name: nameOf(subject, bindingNamespace),
    }));
}

function nameOf({ kind, name, namespace }: Subject, bindingNamespace: string): string {
  if (kind !== "ServiceAccount") return String(name);
  return `system:serviceaccount:${asText(namespace) || bindingNamespace}:${String(name)}`;
}

/** In upstream's words, which reviews of access show. */
function decisionOf(binding: UnstructuredObject, subject: Subject): AuthorizationDecision {
  const { name = "", namespace } = binding.metadata;
  const role = readRoleRef(binding);
  const [kind, full] = namespace === undefined ? ["ClusterRoleBinding", name] : ["RoleBinding", `${name}/${namespace}`];
  const isAccount = subject["kind"] === "ServiceAccount";
  const own = isAccount ? `/${asText(subject["namespace"]) || (namespace ?? "")}` : "";
  const who = `${String(subject["kind"])} ${JSON.stringify(`${String(subject["name"])}${own}`)}`;
  const by = `${kind} ${JSON.stringify(full)} of ${role.kind} ${JSON.stringify(role.name)} to ${who}`;
  return { allowed: true, reason: `RBAC: allowed by ${by}` };
}
