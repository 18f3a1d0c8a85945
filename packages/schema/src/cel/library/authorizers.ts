/** What a user may do: `authorizer.group('apps').resource('deployments').namespace(n).check('get').allowed()`. */
import { validateDns1123Label, validateDns1123Subdomain } from "@setpoint/apimachinery";
import { traversal } from "../cost.ts";
import { member, type Cost, type Library, type Overload } from "../overload.ts";
import type { CelType } from "../type.ts";
import { CelFault, CelOpaque, characterCount, type Value } from "../value.ts";

/** A resource as an authorizer is asked about it; what is not said is empty. */
export interface CelResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

/** What is to be allowed, for the user of the request or for a service account. */
export type CelAccess = {
  readonly verb: string;
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
} & (
  | { readonly kind: "path"; readonly path: string }
  | ({ readonly kind: "resource"; readonly fieldSelector: string; readonly labelSelector: string } & CelResource)
);

export interface CelDecision {
  readonly allowed: boolean;
  readonly reason?: string;
  /** Why it could not be decided. */
  readonly error?: string;
}

/** Answers for one request. */
export interface CelAuthorizer {
  /** What the request is about: `authorizer.requestResource`. */
  readonly requestResource: CelResource;
  check(access: CelAccess): CelDecision;
}

type Check = (access: CelAccess) => CelDecision;
type ServiceAccount = CelAccess["serviceAccount"];

const prefix = "kubernetes.authorization.";

/** Expressions can ask these, but not compare them. */
abstract class Asked extends CelOpaque {
  override readonly isComparable = false;

  equals(): boolean {
    return false;
  }
}

class AuthorizerValue extends Asked {
  readonly typeName = `${prefix}Authorizer`;
  readonly check: Check;
  readonly serviceAccount: ServiceAccount;

  constructor(check: Check, serviceAccount: ServiceAccount) {
    super();
    this.check = check;
    this.serviceAccount = serviceAccount;
  }
}

class PathCheck extends Asked {
  readonly typeName = `${prefix}PathCheck`;
  readonly of: AuthorizerValue;
  readonly path: string;

  constructor(of: AuthorizerValue, path: string) {
    super();
    this.of = of;
    this.path = path;
  }
}

class GroupCheck extends Asked {
  readonly typeName = `${prefix}GroupCheck`;
  readonly of: AuthorizerValue;
  readonly group: string;

  constructor(of: AuthorizerValue, group: string) {
    super();
    this.of = of;
    this.group = group;
  }
}

interface AskedResource extends CelResource {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

class ResourceCheck extends Asked {
  readonly typeName = `${prefix}ResourceCheck`;
  readonly of: AuthorizerValue;
  readonly resource: AskedResource;

  constructor(of: AuthorizerValue, resource: AskedResource) {
    super();
    this.of = of;
    this.resource = resource;
  }
}

class DecisionValue extends Asked {
  readonly typeName = `${prefix}Decision`;
  readonly decision: CelDecision;

  constructor(decision: CelDecision) {
    super();
    this.decision = decision;
  }
}

/** The values of `authorizer` and `authorizer.requestResource`. */
export function authorizerValues({ check, requestResource }: CelAuthorizer): readonly [Value, Value] {
  const authorizer = new AuthorizerValue(check, undefined);
  return [authorizer, new ResourceCheck(authorizer, { ...requestResource, fieldSelector: "", labelSelector: "" })];
}

/** The types of the same, by their names. */
export const authorizerTypes: ReadonlyMap<string, CelType> = new Map(
  [
    ["authorizer", "Authorizer"],
    ["authorizer.requestResource", "ResourceCheck"],
  ].map(([name = "", type = ""]) => [name, { kind: "opaque", name: `${prefix}${type}`, parameters: [] }]),
);

const noOverload = new CelFault("no such overload");
/** Two of them are all that fits into an expression. */
const checkCost: Cost = () => 350_000;
const selectorCost: Cost = ([, selector]) => traversal(typeof selector === "string" ? characterCount(selector) : 1);

/** A member of one of the classes above, which are all that has its type. */
function on<T extends CelOpaque, const Texts extends readonly string[]>(
  type: string,
  is: new (...args: never[]) => T,
  parameters: Texts,
  result: string,
  run: (target: T, ...args: string[]) => Value,
  cost?: Cost,
): Overload {
  return member(
    [`${prefix}${type}`, ...parameters],
    result,
    (target, ...args) => (target instanceof is ? run(target, ...args.map(String)) : noOverload),
    cost,
  );
}

function narrowed(field: keyof AskedResource, cost?: Cost): readonly Overload[] {
  const result = `${prefix}ResourceCheck`;
  const narrow = ({ of, resource }: ResourceCheck, text = ""): Value =>
    new ResourceCheck(of, { ...resource, [field]: text });
  return [on("ResourceCheck", ResourceCheck, ["string"], result, narrow, cost)];
}

function answer(result: string, read: (decision: CelDecision) => Value): readonly Overload[] {
  return [on("Decision", DecisionValue, [], result, ({ decision }) => read(decision))];
}

function serviceAccountOf({ check }: AuthorizerValue, namespace = "", name = ""): Value {
  if (validateDns1123Subdomain(name).length > 0) return new CelFault("Invalid service account name");
  if (validateDns1123Label(namespace).length > 0) return new CelFault("Invalid service account namespace");
  return new AuthorizerValue(check, { namespace, name });
}

function resourceOf({ of, group }: GroupCheck, resource = ""): Value {
  if (resource === "") return new CelFault("resource must not be empty");
  const rest = { subresource: "", namespace: "", name: "", fieldSelector: "", labelSelector: "" };
  return new ResourceCheck(of, { group, resource, ...rest });
}

function checkPath({ of: { check, serviceAccount }, path }: PathCheck, verb = ""): Value {
  return new DecisionValue(check({ kind: "path", verb, path, serviceAccount }));
}

function checkResource({ of: { check, serviceAccount }, resource }: ResourceCheck, verb = ""): Value {
  return new DecisionValue(check({ kind: "resource", verb, ...resource, serviceAccount }));
}

export const authorizers: Library = {
  path: [
    on("Authorizer", AuthorizerValue, ["string"], `${prefix}PathCheck`, (of, path = "") =>
      path === "" ? new CelFault("path must not be empty") : new PathCheck(of, path),
    ),
  ],
  group: [
    on("Authorizer", AuthorizerValue, ["string"], `${prefix}GroupCheck`, (of, group = "") => new GroupCheck(of, group)),
  ],
  serviceAccount: [on("Authorizer", AuthorizerValue, ["string", "string"], `${prefix}Authorizer`, serviceAccountOf)],
  resource: [on("GroupCheck", GroupCheck, ["string"], `${prefix}ResourceCheck`, resourceOf)],
  subresource: narrowed("subresource"),
  namespace: narrowed("namespace"),
  name: narrowed("name"),
  fieldSelector: narrowed("fieldSelector", selectorCost),
  labelSelector: narrowed("labelSelector", selectorCost),
  check: [
    on("PathCheck", PathCheck, ["string"], `${prefix}Decision`, checkPath, checkCost),
    on("ResourceCheck", ResourceCheck, ["string"], `${prefix}Decision`, checkResource, checkCost),
  ],
  allowed: answer("bool", ({ allowed }) => allowed),
  reason: answer("string", ({ reason = "" }) => reason),
  errored: answer("bool", ({ error }) => error !== undefined),
  error: answer("string", ({ error = "" }) => error),
};
