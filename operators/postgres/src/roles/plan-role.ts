/** What to do next about a role; pure. The rules are read from top to bottom: the order is the policy. */
import { act as actOn, parseDuration, rest, type Step, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { refusalText } from "../inner/refused-field.ts";
import type { RoleDefinition, RoleFacts } from "../instance/inner-protocol.ts";
import { nextUser } from "./role-secret.ts";
import type { SeenRole } from "./role-seen.ts";
import { overlapEndMs } from "./wanted-roles.ts";

export interface RoleActions {
  /** Makes a password and keeps it in the Secret as the next one. */
  readonly preparePassword: { readonly user: string };
  /** Makes the roles in PostgreSQL what they should be. */
  readonly changeRoles: { readonly names: readonly string[] };
  /** Gives clients the next login. */
  readonly publishPassword: { readonly user: string };
}

export type RoleStep = Step<RoleActions>;

/** No watch shows what is changed by hand. */
const recheckMs = 30_000;
/** Watches show the rest; this is for one that misses something. */
const waitMs = 10_000;

interface Timed extends SeenRole {
  readonly nowMs: number;
}

export const roleRules: readonly PlanRule<Timed, RoleActions>[] = [
  {
    name: "refused",
    when: ({ refusals }) => refusals.length > 0,
    step: ({ refusals }) => rest(recheckMs, { reason: "FieldsRefused", message: refusalText(refusals) }),
  },
  {
    name: "Secret refused",
    when: () => true,
    step: ({ password }) => (password.kind === "refused" ? wait(password.why, waitMs) : undefined),
  },
  {
    name: "first password",
    when: ({ password }) => password.kind === "absent",
    step: (seen) => prepare(seen, "there is no Secret yet"),
  },
  {
    name: "cluster",
    when: ({ cluster }) => cluster.kind !== "serving",
    step: ({ cluster }) => wait(cluster.kind === "serving" ? "" : cluster.why, waitMs),
  },
  {
    name: "silent primary",
    when: ({ answer }) => answer === undefined,
    step: ({ silence, role }) =>
      wait(`the primary of PostgresCluster "${role.spec.cluster}" gives no answer: ${silence ?? "not asked"}`, 1_000),
  },
  { name: "foreign role", when: () => true, step: planForeign },
  {
    name: "groups of superusers",
    when: ({ answer }) => (answer?.superuserGroups.length ?? 0) > 0,
    step: ({ answer }) =>
      wait(
        `spec.memberOf: members of ${answer?.superuserGroups.join(", ") ?? ""} can do what a superuser can; remove it`,
        recheckMs,
      ),
  },
  {
    name: "missing groups",
    when: ({ answer }) => (answer?.missingGroups.length ?? 0) > 0,
    step: ({ answer }) =>
      wait(`spec.memberOf names roles that do not exist yet: ${answer?.missingGroups.join(", ") ?? ""}`, waitMs),
  },
  { name: "roles", when: () => true, step: planChange },
  {
    name: "publication",
    when: () => true,
    step: ({ password }) =>
      password.kind === "generated" && password.next !== undefined
        ? act("publishPassword", { user: password.next.user }, `PostgreSQL has the next login ${password.next.user}`)
        : undefined,
  },
  { name: "rotation", when: () => true, step: planRotation },
  { name: "rest", when: () => true, step: (seen) => rest(restMs(seen)) },
];

const byRules = planByRules<Timed, RoleActions>(roleRules);

export function planRole(seen: SeenRole, nowMs: number): RoleStep {
  return byRules({ ...seen, nowMs }, nowMs);
}

function act<Name extends keyof RoleActions>(action: Name, args: RoleActions[Name], reason: string): RoleStep {
  return actOn<RoleActions, Name>(action, args, reason);
}

/** What exists without belonging to this object stays as it is, unless it is to be adopted. */
function planForeign({ answer, wanted, role }: Timed): RoleStep | undefined {
  for (const { name } of wanted) {
    const facts = answer?.roles[name];
    if (facts == null) continue;
    if (facts.isSuperuser)
      return wait(`role "${name}" is a superuser, which is never changed; use another spec.role`, recheckMs);
    if (facts.holder?.uid !== role.metadata.uid && !role.spec.adopt)
      return wait(
        `role "${name}" exists already; set spec.adopt: true to take it over, or use another spec.role`,
        waitMs,
      );
  }
  return undefined;
}

function planChange(seen: Timed): RoleStep | undefined {
  const differences = differencesOf({ ...seen, wanted: rolesToChange(seen) });
  if (differences.length === 0) return undefined;
  return act("changeRoles", { names: seen.wanted.map(({ name }) => name) }, differences.join("; "));
}

/**
 * What is changed. Where drift is only reported, what was changed by hand since the spec was carried out
 * stays; passwords follow the Secret all the same.
 */
export function rolesToChange({ role, answer, wanted }: SeenRole): readonly RoleDefinition[] {
  if (role.spec.drift !== "report") return wanted;
  return wanted.map((each) => {
    const facts = answer?.roles[each.name];
    if (facts?.holder?.uid !== role.metadata.uid || facts.holder.revision !== role.metadata.generation) return each;
    const { actsAs: _, ...rest } = each;
    const { attributes, memberOf, actsAs } = facts;
    return { ...rest, attributes: loginOf(each, attributes), memberOf, ...(actsAs === null ? {} : { actsAs }) };
  });
}

/** Whether a login is open belongs to its rotation. */
function loginOf({ attributes, actsAs }: RoleDefinition, present: RoleFacts["attributes"]): RoleFacts["attributes"] {
  return actsAs === undefined ? present : { ...present, login: attributes.login };
}

/** One text for each field that is not as the spec says. */
export function differencesOf({ answer, wanted, role }: SeenRole): readonly string[] {
  return wanted.flatMap((each) => roleDifferences(each, answer?.roles[each.name] ?? null, role.metadata));
}

function roleDifferences(
  { name, attributes, memberOf, verifier, actsAs }: RoleDefinition,
  facts: RoleFacts | null,
  { uid, generation = 0 }: { readonly uid: string; readonly generation?: number },
): readonly string[] {
  if (facts === null) return [`role "${name}" does not exist`];
  const differs = (field: string, is: unknown, wanted: unknown): readonly string[] =>
    JSON.stringify(is) === JSON.stringify(wanted)
      ? []
      : [`role "${name}": ${field} is ${JSON.stringify(is)}, expected ${JSON.stringify(wanted)}`];
  const keys = Object.keys(attributes) as (keyof typeof attributes)[];
  return [
    ...(facts.holder?.uid === uid ? [] : [`role "${name}" does not belong to this object yet`]),
    ...keys.flatMap((key) => differs(key, facts.attributes[key], attributes[key])),
    ...differs("memberOf", facts.memberOf, memberOf),
    ...differs("the role that its sessions begin as", facts.actsAs, actsAs ?? null),
    ...passwordDifference(name, facts.password, verifier),
    ...(facts.holder?.uid === uid && facts.holder.revision < generation
      ? [`role "${name}": the spec has changed`]
      : []),
  ];
}

function passwordDifference(
  name: string,
  is: RoleFacts["password"],
  verifier: string | null | undefined,
): readonly string[] {
  if (verifier === undefined || is === (verifier === null ? "none" : "same")) return [];
  return [
    `role "${name}": the password is ${is === "none" ? "missing" : "another one"}, expected ${verifier === null ? "none" : "that of the Secret"}`,
  ];
}

function prepare({ role, password }: Timed, why: string): RoleStep {
  const user = nextUser(role, password.kind === "generated" ? password.current?.user : undefined);
  return act("preparePassword", { user }, `${why}: making a password for ${user}`);
}

function planRotation(seen: Timed): RoleStep | undefined {
  const { password, role, nowMs } = seen;
  if (password.kind !== "generated") return undefined;
  if (password.current === undefined) return prepare(seen, "the Secret has no login");
  const why = rotationDue(seen);
  if (why === undefined) return undefined;
  const leftMs = overlapEndMs(role, password) - nowMs;
  const isFirst = seen.wanted.filter(({ actsAs }) => actsAs !== undefined).length === 1;
  return role.spec.password?.logins === "alternating" && !isFirst && leftMs > 0
    ? wait(`${why}, and the login before works until ${new Date(overlapEndMs(role, password)).toISOString()}`, leftMs)
    : prepare(seen, why);
}

function rotationDue({ password, role, nowMs }: Timed): string | undefined {
  if (password.kind !== "generated") return undefined;
  const { request = "", every } = role.spec.password?.rotation ?? {};
  if (request !== "" && request !== password.request) return `rotation "${request}" is requested`;
  const isOld = every !== undefined && nowMs >= password.sinceMs + parseDuration(every);
  return isOld ? `the password is older than ${every}` : undefined;
}

/** Until something is due. */
function restMs({ password, role, nowMs }: Timed): number {
  if (password.kind !== "generated") return recheckMs;
  const { every } = role.spec.password?.rotation ?? {};
  const dueMs = every === undefined ? Infinity : password.sinceMs + parseDuration(every);
  const ends = [dueMs, overlapEndMs(role, password)].filter((atMs) => atMs > nowMs).map((atMs) => atMs - nowMs);
  return Math.max(1, Math.min(recheckMs, ...ends));
}

/** The login before, while it still works. */
export function retiringLogin(
  { role, password, answer }: SeenRole,
  nowMs: number,
): { readonly user: string; readonly until: string } | undefined {
  if (password.kind !== "generated" || password.current === undefined) return undefined;
  if (role.spec.password?.logins !== "alternating") return undefined;
  const user = nextUser(role, password.current.user);
  const untilMs = overlapEndMs(role, password);
  const isIn = answer?.roles[user]?.attributes.login === true && nowMs < untilMs && password.next === undefined;
  return isIn ? { user, until: new Date(untilMs).toISOString() } : undefined;
}
