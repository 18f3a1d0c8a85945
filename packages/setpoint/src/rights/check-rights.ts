/** Asks the server, at the start, whether the account may do what the operator declares. */
import { createKind, isApiError, isJsonObject, type KubeObject } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { PolicyRule } from "../policy-rule.ts";
import { missingRights, type Right, rightsOf } from "./right.ts";

/** A set of rules and where it must hold. */
export interface WantedRules {
  readonly rules: readonly PolicyRule[];
  /** Absent: in every namespace, and for what has none. */
  readonly namespace?: string;
}

interface Review extends KubeObject {
  readonly spec: unknown;
  readonly status?: unknown;
}

const review = (kind: string): ReturnType<typeof createKind<Review>> =>
  createKind<Review>({
    group: "authorization.k8s.io",
    version: "v1",
    kind,
    plural: `${kind.toLowerCase()}s`,
    namespaced: false,
  });
const SelfSubjectRulesReview = review("SelfSubjectRulesReview");
const SelfSubjectAccessReview = review("SelfSubjectAccessReview");

/** Names of namespaces cannot end in a dash: only what holds in the whole cluster holds in this one. */
const nowhere = "setpoint-rights-";

/** A right that the account lacks, and where. */
export interface MissingRight extends Right {
  readonly namespace?: string;
}

/**
 * The declared rights that the account does not have. Asked as a whole where the server can say everything at
 * once, else one by one. Errors: what the client throws when the server answers neither.
 */
export async function findMissingRights(
  client: Client,
  wanted: readonly WantedRules[],
): Promise<readonly MissingRight[]> {
  const found = await Promise.all(wanted.map((each) => missingOf(client, each)));
  return found.flat();
}

async function missingOf(client: Client, { rules, namespace }: WantedRules): Promise<readonly MissingRight[]> {
  const granted = await askForRules(client, namespace ?? nowhere);
  const suspects = granted === undefined ? rightsOf(rules) : missingRights(rules, granted.rules);
  const missing = granted?.isComplete === true ? suspects : await askOneByOne(client, suspects, namespace);
  return missing.map((right) => ({ ...right, ...(namespace === undefined ? {} : { namespace }) }));
}

interface Granted {
  readonly rules: readonly PolicyRule[];
  readonly isComplete: boolean;
}

/** Undefined when the server does not answer such questions. */
async function askForRules(client: Client, namespace: string): Promise<Granted | undefined> {
  try {
    const { status } = await client.create(SelfSubjectRulesReview, question("SelfSubjectRulesReview", { namespace }));
    if (!isJsonObject(status) || !Array.isArray(status["resourceRules"])) return undefined;
    // The parsing border: these are rules as in a Role.
    return { rules: status["resourceRules"] as readonly PolicyRule[], isComplete: status["incomplete"] !== true };
  } catch (error) {
    if (isApiError(error)) return undefined;
    throw error;
  }
}

async function askOneByOne(client: Client, rights: readonly Right[], namespace?: string): Promise<readonly Right[]> {
  const answers = await Promise.all(
    rights.map(async (right) => ((await isAllowed(client, right, namespace)) ? [] : [right])),
  );
  return answers.flat();
}

async function isAllowed(client: Client, { verb, group, resource, name }: Right, namespace?: string): Promise<boolean> {
  const [plural, subresource] = resource.split("/");
  const resourceAttributes = {
    ...{ verb, group, resource: plural },
    ...(subresource === undefined ? {} : { subresource }),
    ...(name === undefined ? {} : { name }),
    ...(namespace === undefined ? {} : { namespace }),
  };
  const asked = question("SelfSubjectAccessReview", { resourceAttributes });
  const { status } = await client.create(SelfSubjectAccessReview, asked);
  return isJsonObject(status) && status["allowed"] === true;
}

function question(kind: string, spec: unknown): Review {
  return { apiVersion: "authorization.k8s.io/v1", kind, metadata: {}, spec };
}

/** A missing right as one sentence: what cannot be done, and how to fix it. */
export function missingRightSentence({ verb, group, resource, name, namespace }: MissingRight): string {
  const what = `${resource}${group === "" ? "" : `.${group}`}${name === undefined ? "" : ` "${name}"`}`;
  const where = namespace === undefined ? "in every namespace" : `in namespace "${namespace}"`;
  const role = namespace === undefined ? "ClusterRole" : "Role";
  return `Cannot ${verb} ${what} ${where}: the account has no such right, expected a ${role} with verb "${verb}" of resource "${resource}" in apiGroup "${group}"`;
}
