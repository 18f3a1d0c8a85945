/** Authorizes by the stored Roles and bindings; compiles them once, and again after a change. */
import type { UserInfo } from "@setpoint/apimachinery";
import type { ObjectReader } from "../registry/object-reader.ts";
import type { AuthorizationDecision, Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import type { Storage } from "../storage/storage.ts";
import { type PolicyRule, ruleAllows } from "./policy-rule.ts";
import { type BoundSubject, compileBindings, rbacGroup, type SubjectIndex } from "./role-bindings.ts";

/** Where the authorizer reads roles and bindings, and the storage whose events invalidate its index. */
export interface RbacAuthorizerOptions {
  readonly reader: ObjectReader;
  /** Reports changes of roles and bindings. */
  readonly storage: Pick<Storage, "watch" | "revision">;
}

/** Members of this group may do everything, whatever is stored. */
export const mastersGroup = "system:masters";

const allowed: AuthorizationDecision = { allowed: true };

/** Everything: what members of `system:masters` hold. */
export const allRules: readonly PolicyRule[] = [
  { verbs: ["*"], apiGroups: ["*"], resources: ["*"], resourceNames: [], nonResourceURLs: [] },
  { verbs: ["*"], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ["*"] },
];

/**
 * Decides by RBAC as kube-apiserver does. It resolves the rules of a subject at its first request and follows
 * changes of roles and bindings. Dispose it before the storage is closed.
 */
export class RbacAuthorizer implements Authorizer {
  readonly #reader: ObjectReader;
  readonly #watches: readonly { cancel(): void }[];
  /** By namespace; "" has the ClusterRoleBindings. */
  readonly #indexes = new Map<string, SubjectIndex>();

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
    for (const { grant } of this.#bound(user, namespace)) {
      for (const rule of grant.rules) if (ruleAllows(rule, attributes)) return grant.decision ?? allowed;
      missing.push(...grant.missing);
    }
    if (missing.length === 0) return { allowed: false };
    const list = missing.length === 1 ? missing[0] : `[${missing.join(", ")}]`;
    return { allowed: false, reason: `RBAC: ${list}` };
  }

  /** Everything that the user may do in a namespace ("" for the cluster). */
  rulesFor(user: UserInfo, namespace: string): readonly PolicyRule[] {
    const grants = this.#bound(user, namespace).flatMap(({ grant }) => grant.rules);
    return user.groups.includes(mastersGroup) ? [...allRules, ...grants] : grants;
  }

  /**
   * What the user is granted by, in the order in which it is asked; each makes its grant when that is read.
   */
  #bound(user: UserInfo, namespace: string): readonly Bound[] {
    const bound: Bound[] = [];
    addBound(bound, this.#index(""), user);
    if (namespace !== "") addBound(bound, this.#index(namespace), user);
    return bound;
  }

  #index(namespace: string): SubjectIndex {
    const known = this.#indexes.get(namespace);
    if (known !== undefined) return known;
    const index = compileBindings(this.#reader, namespace);
    // Requests may name any namespace: what they make the server remember is bounded by the bindings that are
    // stored.
    if (namespace === "" || index.users.size + index.groups.size > 0) this.#indexes.set(namespace, index);
    return index;
  }

  #forgetAll(): void {
    this.#indexes.clear();
  }
}

type Bound = Pick<BoundSubject, "grant">;

function addBound(bound: Bound[], { users, groups }: SubjectIndex, user: UserInfo): void {
  bound.push(...(users.get(user.username) ?? []));
  for (const group of user.groups) bound.push(...(groups.get(group) ?? []));
}
