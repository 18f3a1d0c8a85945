/**
 * The accepted names of a CRD: those that no other CRD of its group has. Decides the conditions NamesAccepted
 * and Established.
 */
import { type Crd, type CrdCondition, type CrdNames, findCondition, withCondition } from "./crd-object.ts";

export interface NamingDecision {
  readonly acceptedNames: Partial<CrdNames>;
  readonly conditions: readonly CrdCondition[];
}

interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function usedNames(group: string, others: readonly Crd[]): UsedNames {
  const accepted = others.filter((each) => each.spec.group === group).map((each) => each.status?.acceptedNames ?? {});
  const resources = accepted.flatMap((names) => [names.plural, names.singular, ...(names.shortNames ?? [])]);
  const kinds = accepted.flatMap((names) => [names.kind, names.listKind]);
  const present = (name: string | undefined): name is string => name !== undefined && name !== "";
  return { resources: new Set(resources.filter(present)), kinds: new Set(kinds.filter(present)) };
}

const inUse = (name: string): string => `${JSON.stringify(name)} is already in use`;

/** The names that this CRD gets beside `others`, and its conditions; it keeps the names that it has. */
export function decideNames(crd: Crd, others: readonly Crd[], now: string): NamingDecision {
  const used = usedNames(crd.spec.group, others);
  const wanted = crd.spec.names;
  const accepted: Record<string, unknown> = { ...crd.status?.acceptedNames };
  let conflict: { readonly reason: string; readonly message: string } | undefined;
  const claim = (
    field: "plural" | "singular" | "kind" | "listKind",
    reason: string,
    taken: ReadonlySet<string>,
  ): void => {
    const name = wanted[field] ?? "";
    if (name !== accepted[field] && taken.has(name)) conflict = { reason, message: inUse(name) };
    else accepted[field] = name;
  };
  claim("plural", "PluralConflict", used.resources);
  claim("singular", "SingularConflict", used.resources);
  const had = crd.status?.acceptedNames?.shortNames ?? [];
  const taken = (wanted.shortNames ?? []).filter((name) => !had.includes(name) && used.resources.has(name));
  if (taken.length > 0) conflict = { reason: "ShortNamesConflict", message: aggregate(taken.map(inUse)) };
  else if (wanted.shortNames === undefined) delete accepted["shortNames"];
  else accepted["shortNames"] = wanted.shortNames;
  claim("kind", "KindConflict", used.kinds);
  claim("listKind", "ListKindConflict", used.kinds);
  if (wanted.categories === undefined) delete accepted["categories"];
  else accepted["categories"] = wanted.categories;
  return { acceptedNames: inOrder(accepted), conditions: conditionsAfter(crd, conflict, now) };
}

const aggregate = (texts: readonly string[]): string =>
  texts.length === 1 ? (texts[0] ?? "") : `[${texts.join(", ")}]`;

const nameFields = ["plural", "singular", "shortNames", "kind", "listKind", "categories"] as const;

function inOrder(names: Readonly<Record<string, unknown>>): Partial<CrdNames> {
  return Object.fromEntries(
    nameFields.filter((field) => names[field] !== undefined).map((field) => [field, names[field]]),
  );
}

function conditionsAfter(
  crd: Crd,
  conflict: { readonly reason: string; readonly message: string } | undefined,
  now: string,
): readonly CrdCondition[] {
  const naming =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True" as const, reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False" as const, ...conflict };
  const conditions = withCondition(crd.status?.conditions ?? [], naming, now);
  // An established CRD stays established, whatever names it requests later.
  if (findCondition(crd, "Established")?.status === "True") return conditions;
  const established =
    conflict === undefined
      ? { status: "True" as const, reason: "InitialNamesAccepted", message: "the initial names have been accepted" }
      : { status: "False" as const, reason: "NotAccepted", message: "not all names are accepted" };
  return withCondition(conditions, { type: "Established", ...established }, now);
}
