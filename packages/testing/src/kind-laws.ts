/** What holds for every kind, tried out on objects that its schemas allow. */
import { encodeJson, deepEqual, type KubeObject, messageOf } from "@setpoint/apimachinery";
import { seededRandom } from "@setpoint/host/simulated";
import { applyDefaults, type StructuralSchema, validateSchema } from "@setpoint/schema";
import { celRuleCompiler } from "@setpoint/schema/cel";
import { NoValue, ValueMaker } from "./arbitrary-value.ts";
import { smallerValues } from "./smaller-values.ts";

/** A kind as `defineKind` makes it. */
export interface LawfulKind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly versions: readonly { readonly apiVersion: string; readonly schema: StructuralSchema }[];
  convert(object: KubeObject, apiVersion: string): KubeObject;
}

/** The seed, the number of objects and sample values for `kindLaws`. */
export interface KindLawsOptions {
  /** Default 1; the same seed tries the same objects. */
  readonly seed?: number;
  /** Objects tried in each version; default 200. */
  readonly runs?: number;
  /** Values of fields that cannot be guessed from the schema, by path: `{ "spec.image": ["etcd:3.5"] }`. */
  readonly samples?: Readonly<Record<string, readonly unknown[]>>;
}

/** How many generated objects were valid and tried, and how many were not. */
export interface KindLawsReport {
  /** Valid objects that were tried. */
  readonly tried: number;
  /** Objects that rules or patterns did not allow. */
  readonly discarded: number;
}

const runsDefault = 200;
/** Steps on the way to the smallest counterexample. */
const shrinkStepsMax = 2_000;

interface Version {
  readonly apiVersion: string;
  readonly schema: StructuralSchema;
  /** What is wrong with an object of this version. */
  problemsOf(object: KubeObject): readonly string[];
}

/** A law: undefined where it holds, else how it is broken. */
type Law = (object: KubeObject) => string | undefined;

/**
 * Tries the laws of a kind: defaults once filled stay as they are; an object is valid after a conversion;
 * every way there and back loses nothing; rules are within their budget.
 *
 * Errors: an Error with one sentence and the smallest object that breaks a law.
 */
export function kindLaws(kind: LawfulKind, options: KindLawsOptions = {}): KindLawsReport {
  const { seed = 1, runs = runsDefault, samples = {} } = options;
  const versions = kind.versions.map((each) => checkedVersion(kind, each));
  const maker = new ValueMaker(seededRandom(seed), samples);
  let [tried, discarded] = [0, 0];
  for (const version of versions) {
    const laws = lawsOf(kind, version, versions);
    for (let run = 0; run < runs; run++) {
      const object = makeObject(kind, version, maker);
      if (version.problemsOf(object).length > 0) discarded++;
      else {
        tried++;
        for (const law of laws) require(kind, version, law, object);
      }
    }
  }
  if (tried === 0) throw new Error(noObjects(kind, versions, maker));
  return { tried, discarded };
}

function noObjects(kind: LawfulKind, versions: readonly Version[], maker: ValueMaker): string {
  const [version] = versions;
  const example = version === undefined ? [] : version.problemsOf(makeObject(kind, version, maker));
  return `Cannot try the laws of ${kind.kind}: none of the objects made at random was valid (${example[0] ?? ""}), expected \`samples\` for the fields that cannot be guessed`;
}

function checkedVersion(kind: LawfulKind, { apiVersion, schema }: LawfulKind["versions"][number]): Version {
  const rules = celRuleCompiler(schema);
  const [error] = rules.errors;
  if (error !== undefined) throw new Error(`${kind.kind} ${apiVersion}: ${error.field}: ${error.message}`);
  const problemsOf = (object: KubeObject): readonly string[] =>
    validateSchema(schema, object, { rules }).map(({ field, message }) => `${field}: ${message}`);
  return { apiVersion, schema, problemsOf };
}

function makeObject(kind: LawfulKind, { apiVersion, schema }: Version, maker: ValueMaker): KubeObject {
  const { spec, status } = schema.properties ?? {};
  try {
    return withDefaults(schema, {
      apiVersion,
      kind: kind.kind,
      metadata: { name: "tried", namespace: "default" },
      ...(spec === undefined ? {} : { spec: maker.make(spec, "spec") }),
      ...(status === undefined ? {} : { status: maker.make(status, "status") }),
    });
  } catch (error) {
    if (!(error instanceof NoValue)) throw error;
    throw new Error(`Cannot try the laws of ${kind.kind} ${apiVersion}: ${error.message}`, { cause: error });
  }
}

function withDefaults(schema: StructuralSchema, object: KubeObject): KubeObject {
  const copy = structuredClone(object);
  applyDefaults(schema, copy);
  return copy;
}

function lawsOf(kind: LawfulKind, version: Version, versions: readonly Version[]): readonly Law[] {
  const hub = versions.find(({ apiVersion }) => apiVersion === kind.apiVersion) ?? version;
  const partners = version === hub ? versions.filter((each) => each !== hub) : [hub];
  return [defaultsStay(version), ...partners.map((partner) => roundTrip(kind, version, partner))];
}

function defaultsStay({ schema }: Version): Law {
  return (object) =>
    deepEqual(withDefaults(schema, object), object) ? undefined : "filling the defaults again changes the object";
}

/** Both ways as a server goes them: converted, defaulted, checked. */
function roundTrip(kind: LawfulKind, from: Version, to: Version): Law {
  return (object) => {
    const there = withDefaults(to.schema, kind.convert(object, to.apiVersion));
    const [problem] = to.problemsOf(there);
    if (problem !== undefined) return `as ${to.apiVersion} it is not valid: ${problem}`;
    const back = withDefaults(from.schema, kind.convert(there, from.apiVersion));
    const lost = difference(contentOf(object), contentOf(back), "");
    return lost === undefined ? undefined : `the way to ${to.apiVersion} and back changes it: ${lost}`;
  };
}

function contentOf(object: KubeObject): unknown {
  const { spec, status } = object as KubeObject & { readonly spec?: unknown; readonly status?: unknown };
  return { spec, status };
}

/** The first place in which two values differ. */
function difference(before: unknown, after: unknown, path: string): string | undefined {
  if (deepEqual(before, after)) return undefined;
  if (typeof before === "object" && typeof after === "object" && before !== null && after !== null) {
    const [from, to] = [before as Record<string, unknown>, after as Record<string, unknown>];
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      const found = difference(from[key], to[key], path === "" ? key : `${path}.${key}`);
      if (found !== undefined) return found;
    }
  }
  return `${path} was ${textOf(before)}, is ${textOf(after)}`;
}

function textOf(value: unknown): string {
  return value === undefined ? "absent" : encodeJson(value);
}

function require(kind: LawfulKind, version: Version, law: Law, object: KubeObject): void {
  const broken = verdict(law, object);
  if (broken === undefined) return;
  const smallest = shrink(version, law, object);
  const { spec, status } = contentOf(smallest) as { readonly spec?: unknown; readonly status?: unknown };
  const text = encodeJson({ spec, ...(status === undefined ? {} : { status }) });
  throw new Error(
    `${kind.kind} ${version.apiVersion}: ${verdict(law, smallest) ?? broken}; the smallest object: ${text}`,
  );
}

/** An author's function that throws breaks the law as well. */
function verdict(law: Law, object: KubeObject): string | undefined {
  try {
    return law(object);
  } catch (error) {
    return `its conversion throws ${messageOf(error)}`;
  }
}

function shrink(version: Version, law: Law, object: KubeObject): KubeObject {
  let smallest = object;
  let steps = 0;
  for (let isSmaller = true; isSmaller && steps < shrinkStepsMax;) {
    isSmaller = false;
    for (const content of smallerValues(contentOf(smallest))) {
      if (++steps >= shrinkStepsMax) break;
      // Smaller values of an object are objects.
      const candidate = withDefaults(version.schema, { ...withoutContent(smallest), ...(content as object) });
      if (deepEqual(candidate, smallest) || version.problemsOf(candidate).length > 0) continue;
      if (verdict(law, candidate) === undefined) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function withoutContent(object: KubeObject): KubeObject {
  const { apiVersion, kind, metadata } = object;
  return { apiVersion, kind, metadata };
}
