/** Decides by the stored Roles and bindings; compiled once, and again after they changed. */
import type { UserInfo } from "@setpoint/apimachinery";
import type { ObjectReader } from "../admission/admission-plugin.ts";
import type { AuthorizationDecision, Authorizer, RequestAttributes } from "../registry/request-attributes.ts";
import type { Storage } from "../storage/storage.ts";
import { type PolicyRule, ruleAllows } from "./policy-rule.ts";
import {
  type BoundSubject,
  compileBindings,
  type Grant,
  grantOf,
  rbacGroup,
  type SubjectIndex,
} from "./role-bindings.ts";

export interface RbacAuthorizerOptions {
  readonly reader: ObjectReader;
  /** Tells when roles and bindings change. */
  readonly storage: Pick<Storage, "watch" | "revision">;
}

/** Members of this group may do everything, whatever is stored. */
export const mastersGroup = "system:masters";
/**
 * Upstream lets nodes do what its node authorizer derives from the pods on them; here every member of the group has the
 * rules of the ClusterRole of this name, which upstream keeps for the same purpose.
 */
const nodesGroup = "system:nodes";
const nodeRole = { kind: "ClusterRole", name: "system:node" };

const allowed: AuthorizationDecision = { allowed: true };

export class RbacAuthorizer implements Authorizer {
  readonly #reader: ObjectReader;
  readonly #watches: readonly { cancel(): void }[];
  /** By namespace; "" has the ClusterRoleBindings. */
  readonly #indexes = new Map<string, SubjectIndex>();
  #nodeGrant: Grant | undefined;

  constructor(options: RbacAuthorizerOptions) {
    this.#reader = options.reader;
    const { storage } = options;
    const watch = (resource: string, onChange: (path: string) => void): { cancel(): void } =>
      storage.watch(`/${rbacGroup}/${resource}`, storage.revision, (event) => onChange(event.path));
    const forgetNamespace = (path: string): void => void this.#indexes.delete(path.slice(0, path.indexOf("/")));
    this.#watches = [
      watch("clusterroles", () => this.#forgetAll()),
      watch("clusterrolebindings", () => this.#indexes.delete("")),
      watch("roles", forgetNamespace),
      watch("rolebindings", forgetNamespace),
    ];
  }

  [Symbol.dispose](): void {
    for (const each of this.#watches) each.cancel();
  }

  authorize(attributes: RequestAttributes): AuthorizationDecision {
    const { user, namespace } = attributes;
    if (user.groups.includes(mastersGroup)) return allowed;
    const missing: string[] = [];
    const decision = this.#ask(user, namespace, (grant) => {
      for (const rule of grant.rules) if (ruleAllows(rule, attributes)) return grant.decision ?? allowed;
      missing.push(...grant.missing);
      return undefined;
    });
    if (decision !== undefined) return decision;
    if (missing.length === 0) return { allowed: false };
    const list = missing.length === 1 ? missing[0] : `[${missing.join(", ")}]`;
    return { allowed: false, reason: `RBAC: ${list}` };
  }

  /** Everything that the user may do in a namespace ("" for the cluster). */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    const grants: PolicyRule[] = [];
    this.#ask(user, namespace, ({ rules }) => {
      grants.push(...rules);
      return undefined;
    });
    if (!user.groups.includes(mastersGroup)) return grants;
    const all = { resourceNames: [], verbs: ["*"] };
    return [
      { ...all, apiGroups: ["*"], resources: ["*"], nonResourceURLs: [] },
      { ...all, apiGroups: [], resources: [], nonResourceURLs: ["*"] },
      ...grants,
    ];
  }

  /** Asks about everything that the user is granted, one after the other, until there is an answer. */
  #ask<T>(user: UserInfo, namespace: string, about: (grant: Grant) => T | undefined): T | undefined {
    return (
      askOf(this.#index(""), user, about) ??
      (namespace === "" ? undefined : askOf(this.#index(namespace), user, about)) ??
      (user.groups.includes(nodesGroup) ? about(this.#grantOfNodes()) : undefined)
    );
  }

  #grantOfNodes(): Grant {
    const grant = this.#nodeGrant ?? grantOf(this.#reader, nodeRole, "");
    this.#nodeGrant = grant;
    return grant;
  }

  #index(namespace: string): SubjectIndex {
    const known = this.#indexes.get(namespace);
    if (known !== undefined) return known;
    const index = compileBindings(this.#reader, namespace);
    this.#indexes.set(namespace, index);
    return index;
  }

  #forgetAll(): void {
    this.#indexes.clear();
    this.#nodeGrant = undefined;
  }
}

function askOf<T>(
  { users, groups }: SubjectIndex,
  user: UserInfo,
  about: (grant: Grant) => T | undefined,
): T | undefined {
  const answer = askOne(users.get(user.username), about);
  if (answer !== undefined) return answer;
  for (const group of user.groups) {
    const ofGroup = askOne(groups.get(group), about);
    if (ofGroup !== undefined) return ofGroup;
  }
  return undefined;
}

function askOne<T>(
  subjects: readonly BoundSubject[] | undefined,
  about: (grant: Grant) => T | undefined,
): T | undefined {
  if (subjects === undefined) return undefined;
  for (const { grant } of subjects) {
    const answer = about(grant);
    if (answer !== undefined) return answer;
  }
  return undefined;
}
