/**
 * Authorization checks of a user:
 * `authorizer.group('apps').resource('deployments').namespace(n).check('get').allowed()`.
 */
import { validateDns1123Label, validateDns1123Subdomain } from "@setpoint/apimachinery";
import { traversal } from "../cost.ts";
import { member, type Cost, type Library, type Overload } from "../overload.ts";
import type { CelType } from "../type.ts";
import { CelFault, CelOpaque, characterCount, type Value } from "../value.ts";

/** The resource of an authorization check; unset fields are empty. */
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

/**
 * An authorizer's decision, as the expressions `allowed()`, `reason()`, `errored()` and `error()` report it.
 */
export interface CelDecision {
  readonly allowed: boolean;
  readonly reason?: string;
  /** Why the authorizer could not decide. */
  readonly error?: string;
}

/** Answers for one request. */
export interface CelAuthorizer {
  /** What the request is about: `authorizer.requestResource`. */
  readonly requestResource: CelResource;
  readonly check: (access: CelAccess) => CelDecision;
}

type Check = (access: CelAccess) => CelDecision;
type ServiceAccount = CelAccess["serviceAccount"];

const prefix = "kubernetes.authorization.";

/** Expressions can call methods of these values, but not compare them. */
abstract class Asked<T> extends CelOpaque {
  override readonly isComparable = false;
  readonly held: T;

  constructor(held: T) {
    super();
    this.held = held;
  }

  equals(): boolean {
    return false;
  }
}

interface Subject {
  readonly check: Check;
  readonly serviceAccount: ServiceAccount;
}

interface AskedResource extends CelResource {
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

class AuthorizerValue extends Asked<Subject> {
  readonly typeName = `${prefix}Authorizer`;
}

class PathCheck extends Asked<{ readonly of: Subject; readonly path: string }> {
  readonly typeName = `${prefix}PathCheck`;
}

class GroupCheck extends Asked<{ readonly of: Subject; readonly group: string }> {
  readonly typeName = `${prefix}GroupCheck`;
}

class ResourceCheck extends Asked<{ readonly of: Subject; readonly resource: AskedResource }> {
  readonly typeName = `${prefix}ResourceCheck`;
}

class DecisionValue extends Asked<CelDecision> {
  readonly typeName = `${prefix}Decision`;
}

/** The values of `authorizer` and `authorizer.requestResource`. */
export function authorizerValues({ check, requestResource }: CelAuthorizer): readonly [Value, Value] {
  const of: Subject = { check, serviceAccount: undefined };
  const resource = { ...requestResource, fieldSelector: "", labelSelector: "" };
  return [new AuthorizerValue(of), new ResourceCheck({ of, resource })];
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
function on<T, const Texts extends readonly string[]>(
  type: string,
  is: new (held: T) => Asked<T>,
  parameters: Texts,
  result: string,
  run: (held: T, ...args: string[]) => Value,
  cost?: Cost,
): Overload {
  return member(
    [`${prefix}${type}`, ...parameters],
    result,
    (target, ...args) => (target instanceof is ? run(target.held, ...args.map(String)) : noOverload),
    cost,
  );
}

function narrowed(field: keyof AskedResource, cost?: Cost): readonly Overload[] {
  const narrow = ({ of, resource }: ResourceCheck["held"], text = ""): Value =>
    new ResourceCheck({ of, resource: { ...resource, [field]: text } });
  return [on("ResourceCheck", ResourceCheck, ["string"], `${prefix}ResourceCheck`, narrow, cost)];
}

function answer(result: string, read: (decision: CelDecision) => Value): readonly Overload[] {
  return [on("Decision", DecisionValue, [], result, read)];
}

function serviceAccountOf({ check }: Subject, namespace = "", name = ""): Value {
  if (validateDns1123Subdomain(name).length > 0) return new CelFault("Invalid service account name");
  if (validateDns1123Label(namespace).length > 0) return new CelFault("Invalid service account namespace");
  return new AuthorizerValue({ check, serviceAccount: { namespace, name } });
}

function resourceOf({ of, group }: GroupCheck["held"], resource = ""): Value {
  if (resource === "") return new CelFault("resource must not be empty");
  const rest = { subresource: "", namespace: "", name: "", fieldSelector: "", labelSelector: "" };
  return new ResourceCheck({ of, resource: { group, resource, ...rest } });
}

function checkPath({ of: { check, serviceAccount }, path }: PathCheck["held"], verb = ""): Value {
  return new DecisionValue(check({ kind: "path", verb, path, serviceAccount }));
}

function checkResource({ of: { check, serviceAccount }, resource }: ResourceCheck["held"], verb = ""): Value {
  return new DecisionValue(check({ kind: "resource", verb, ...resource, serviceAccount }));
}

export const authorizers: Library = {
  path: [
    on("Authorizer", AuthorizerValue, ["string"], `${prefix}PathCheck`, (of, path = "") =>
      path === "" ? new CelFault("path must not be empty") : new PathCheck({ of, path }),
    ),
  ],
  group: [
    on(
      "Authorizer",
      AuthorizerValue,
      ["string"],
      `${prefix}GroupCheck`,
      (of, group = "") => new GroupCheck({ of, group }),
    ),
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
