/** What to do next about a database; pure. The rules are read from top to bottom: the order is the policy. */
import { act, rest, type Step, wait } from "setpoint";
import { planByRules, type PlanRule } from "setpoint/sources";
import { refusalText } from "../inner/refused-field.ts";
import type {
  DatabaseDefinition,
  DatabaseFacts,
  WantedExtension,
  WantedSchema,
} from "../instance/database-protocol.ts";
import type { SeenDatabase } from "./database-seen.ts";

export interface DatabaseActions {
  /** Makes the database in PostgreSQL what it should be. */
  readonly changeDatabase: { readonly name: string };
}

export type DatabaseStep = Step<DatabaseActions>;

/** No watch shows what is changed by hand. */
const recheckMs = 30_000;
/** Watches show the rest; this is for one that misses something. */
const waitMs = 10_000;

export const databaseRules: readonly PlanRule<SeenDatabase, DatabaseActions>[] = [
  {
    name: "refused",
    when: ({ refusals }) => refusals.length > 0,
    step: ({ refusals }) => rest(recheckMs, { reason: "FieldsRefused", message: refusalText(refusals) }),
  },
  {
    name: "cluster",
    when: ({ cluster }) => cluster.kind !== "serving",
    step: ({ cluster }) => wait(cluster.kind === "serving" ? "" : cluster.why, waitMs),
  },
  {
    name: "silent primary",
    when: ({ answer }) => answer === undefined,
    step: ({ silence, database }) =>
      wait(
        `the primary of PostgresCluster "${database.spec.cluster}" gives no answer: ${silence ?? "not asked"}`,
        1_000,
      ),
  },
  { name: "foreign database", when: () => true, step: planForeign },
  { name: "missing roles", when: () => true, step: planMissing },
  { name: "what cannot change", when: () => true, step: planFixed },
  { name: "extensions that the image lacks", when: () => true, step: planExtensions },
  { name: "database", when: () => true, step: planChange },
  { name: "rest", when: () => true, step: () => rest(recheckMs) },
];

const byRules = planByRules<SeenDatabase, DatabaseActions>(databaseRules);

export function planDatabase(seen: SeenDatabase, nowMs: number): DatabaseStep {
  return byRules(seen, nowMs);
}

/** What exists without belonging to this object stays as it is, unless it is to be adopted. */
function planForeign({ answer, wanted, database }: SeenDatabase): DatabaseStep | undefined {
  const facts = answer?.database;
  if (facts == null) return undefined;
  if (facts.isInvalid)
    return wait(`database "${wanted.name}" is left over from a drop that was interrupted; drop it by hand`, waitMs);
  if (facts.isTemplate) return wait(`database "${wanted.name}" is a template; use another spec.database`, waitMs);
  if (facts.holder?.uid === database.metadata.uid || database.spec.adopt) return undefined;
  return wait(
    `database "${wanted.name}" exists already; set spec.adopt: true to take it over, or use another spec.database`,
    waitMs,
  );
}

function planMissing({ answer, wanted }: SeenDatabase): DatabaseStep | undefined {
  const { missingRoles = [], hasTemplate = true, database } = answer ?? {};
  if (missingRoles.length > 0) return wait(`owners that do not exist yet: ${missingRoles.join(", ")}`, waitMs);
  return hasTemplate || database != null
    ? undefined
    : wait(`spec.template: there is no database "${wanted.creation.template}" yet`, waitMs);
}

/** Of a database that was adopted or restored; the spec itself cannot change. */
function planFixed({ answer, wanted }: SeenDatabase): DatabaseStep | undefined {
  const facts = answer?.database;
  if (facts == null) return undefined;
  const { encoding, locale } = wanted.creation;
  if (normalized(facts.encoding) !== normalized(encoding))
    return wait(
      `spec.encoding: the database has ${facts.encoding}, expected ${encoding}; PostgreSQL cannot change it: recreate the resource with ${facts.encoding}`,
      recheckMs,
    );
  return locale === undefined || locale === facts.locale
    ? undefined
    : wait(
        `spec.locale: the database has ${facts.locale}, expected ${locale}; PostgreSQL cannot change it: recreate the resource with ${facts.locale}`,
        recheckMs,
      );
}

/** PostgreSQL takes `utf-8` for UTF8. */
function normalized(encoding: string): string {
  return encoding.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

function planExtensions({ answer, wanted }: SeenDatabase): DatabaseStep | undefined {
  const facts = answer?.database;
  if (facts == null) return undefined;
  for (const { name, isPresent, version } of wanted.extensions) {
    const found = facts.extensions[name];
    if (!isPresent || found === undefined) continue;
    const has = `the image has ${found.available.length === 0 ? "no version" : found.available.join(", ")}`;
    if (found.version === null && !isAvailable(found.available, version))
      return wait(`spec.extensions[${name}]: expected ${version ?? "any version"}, and ${has}`, waitMs);
    if (!found.hasPath)
      return wait(
        `spec.extensions[${name}]: there is no way from ${found.version ?? ""} to ${version ?? ""}; ${has}`,
        waitMs,
      );
  }
  return undefined;
}

function isAvailable(available: readonly string[], version: string | undefined): boolean {
  return version === undefined ? available.length > 0 : available.includes(version);
}

function planChange(seen: SeenDatabase): DatabaseStep | undefined {
  const { wanted, database, answer } = seen;
  const differences = differencesOf(seen);
  if (differences.length === 0) return undefined;
  const isCarriedOut = answer?.database?.holder?.revision === database.metadata.generation;
  if (database.spec.drift === "report" && isCarriedOut) return undefined;
  // A database that is gone with its data is no drift that a new, empty one would repair.
  if (answer?.database === null && database.status?.database !== undefined && database.spec.drift === "report")
    return undefined;
  return act<DatabaseActions, "changeDatabase">("changeDatabase", { name: wanted.name }, differences.join("; "));
}

/** One text for each field that is not as the spec says. */
export function differencesOf({ answer, wanted, database }: SeenDatabase): readonly string[] {
  const facts = answer?.database;
  if (facts === undefined) return [];
  if (facts === null) return [`database "${wanted.name}" does not exist`];
  const { uid, generation = 0 } = database.metadata;
  const isOurs = facts.holder?.uid === uid;
  return [
    ...(isOurs ? [] : [`database "${wanted.name}" does not belong to this object yet`]),
    ...difference("owner", facts.owner, wanted.owner),
    ...difference("connectionLimit", facts.connectionLimit, wanted.connectionLimit),
    ...wanted.schemas.flatMap((schema) => schemaDifference(schema, facts)),
    ...wanted.extensions.flatMap((extension) => extensionDifference(extension, facts)),
    ...(isOurs && (facts.holder?.revision ?? 0) < generation ? ["the spec has changed"] : []),
  ];
}

function difference(
  field: string,
  is: unknown,
  wanted: DatabaseDefinition[keyof DatabaseDefinition],
): readonly string[] {
  return is === wanted ? [] : [`${field} is ${JSON.stringify(is)}, expected ${JSON.stringify(wanted)}`];
}

function schemaDifference({ name, isPresent, owner }: WantedSchema, { schemas }: DatabaseFacts): readonly string[] {
  const present = schemas[name];
  if (!isPresent) return present === undefined ? [] : [`schema "${name}" is there, expected none`];
  if (present === undefined) return [`schema "${name}" is missing`];
  return difference(`the owner of schema "${name}"`, present, owner);
}

function extensionDifference(
  { name, isPresent, version, schema }: WantedExtension,
  { extensions }: DatabaseFacts,
): readonly string[] {
  const present = extensions[name];
  const has = present?.version ?? null;
  if (!isPresent) return has === null ? [] : [`extension "${name}" is there, expected none`];
  if (has === null) return [`extension "${name}" is missing`];
  return [
    ...(version === undefined ? [] : difference(`the version of extension "${name}"`, has, version)),
    ...(schema === undefined ? [] : difference(`the schema of extension "${name}"`, present?.schema, schema)),
  ];
}
