/** A plan as a person reads it: object by object, what would change and why. */
import { encodeJson, isJsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { PretendedObject } from "@setpoint/client";
import { changesOnlyTimes, fieldDiff, type FieldChange } from "./field-diff.ts";
import { isDryRun } from "./given-objects.ts";
import { listsSteps, plannedStepsOf, stepLines, type PlannedStep } from "./planned-steps.ts";
import type { ExplainedWrite, OutsideChange, Plan, Unreached } from "./run-plan.ts";

export interface PlanTextOptions {
  readonly operator: string;
  readonly server: string;
  readonly colors: boolean;
}

type Change = "create" | "change" | "delete";

interface ChangedObject {
  readonly change: Change;
  readonly title: string;
  readonly fields: readonly FieldChange[];
  readonly writes: readonly ExplainedWrite[];
  /** Of an object of a user's file, when its operator lists them; a text says why they are not known. */
  readonly steps?: readonly PlannedStep[] | string;
}

/** Told to people and not decided about. */
const isEvent = ({ place }: { readonly place: { readonly resource: string } }): boolean => place.resource === "events";

/** Objects that would really be different at the end; what was written and taken back is left out. */
export function changedObjects({ objects, writes }: Plan): readonly ChangedObject[] {
  return objects.filter((each) => !isEvent(each)).flatMap((entry) => describe(entry, writes));
}

function describe(entry: PretendedObject, writes: readonly ExplainedWrite[]): readonly ChangedObject[] {
  const { base, object, place } = entry;
  const shown = object ?? base;
  if (shown === undefined) return [];
  const change = base === undefined ? "create" : object === undefined ? "delete" : "change";
  const own = writes.filter((write) => samePlace(write.place, place) && write.refused === undefined);
  const saysStatus = change === "change" || own.some(({ subresource }) => subresource === "status");
  // The server sets the first status of a new object, unless the operator writes one.
  const all = change === "delete" ? [] : fieldDiff(base, object);
  const fields = saysStatus ? all : all.filter(({ path }) => !path.startsWith("status"));
  const given = own.filter(({ file }) => file !== undefined);
  const title = titleOf(shown);
  if (given.length > 0 && (change === "change" ? isDryRun(shown) : listsSteps(shown))) {
    const decided = decidedFields(fields, given);
    const steps = plannedStepsOf(shown);
    return decided.length === 0 && steps.length === 0 ? [] : [{ change, title, fields: decided, writes: given, steps }];
  }
  if (change === "change" && changesOnlyTimes(fields)) return [];
  return [{ change, title, fields, writes: own }];
}

/** What the user decides: neither the status, nor the dry run that is only the plan's. */
function decidedFields(fields: readonly FieldChange[], given: readonly ExplainedWrite[]): readonly FieldChange[] {
  const isOfPlan = given.some(({ isPlanned }) => isPlanned);
  return fields.filter(({ path }) => !path.startsWith("status") && !(isOfPlan && path === "spec.dryRun"));
}

function samePlace(a: ExplainedWrite["place"], b: ExplainedWrite["place"]): boolean {
  return a.group === b.group && a.resource === b.resource && a.namespace === b.namespace && a.name === b.name;
}

function titleOf({ kind, metadata: { name, namespace } }: UnstructuredObject): string {
  return `${kind} ${namespace === undefined ? "" : `${namespace}/`}${name ?? ""}`;
}

export function planText(plan: Plan, options: PlanTextOptions): string {
  const paint = options.colors ? colored : plain;
  const objects = changedObjects(plan);
  const refused = plan.writes.filter((write) => write.refused !== undefined);
  const parts = [
    `Plan of the operator "${options.operator}" for ${options.server}\n`,
    ...objects.map((each) => objectText(each, paint)),
    ...refusedText(refused, paint),
    ...outsideText(plan.outside, paint),
    ...unreachedText(plan.unreached, paint),
    ...plan.errors.map(({ message, fields }) => paint("delete", `! ${message}${errorText(fields["error"])}\n`)),
    summaryOf(plan, objects, refused.length),
  ];
  return parts.join("\n");
}

function objectText({ change, title, fields, writes, steps }: ChangedObject, paint: Paint): string {
  const signs = { create: "+", change: "~", delete: "-" } as const;
  const lines = [
    paint(change, `${signs[change]} ${title}`),
    ...reasonsOf(writes).map((reason) => `    ${reason}`),
    ...fields.flatMap((field) => fieldLines(field, paint)),
    ...(steps === undefined ? [] : stepLines(steps)),
  ];
  return `${lines.join("\n")}\n`;
}

/** Who writes it and why, once each. */
function reasonsOf(writes: readonly ExplainedWrite[]): readonly string[] {
  const lines = writes.map(({ file, note, verb, subresource, isServerChecked }) => {
    if (file !== undefined) return `from ${file}${isServerChecked ? "" : " (not checked by the server)"}`;
    const what = subresource === "" ? verb : `${verb} of ${subresource}`;
    const who = note === undefined ? "the installation of its kinds" : `${note.controller} of ${note.key}`;
    const why = note === undefined || note.reasons.length === 0 ? "" : `: ${note.reasons.join("; ")}`;
    return `${what} by ${who}${why}${isServerChecked ? "" : " (not checked by the server)"}`;
  });
  return [...new Set(lines)];
}

function fieldLines({ path, before, after }: FieldChange, paint: Paint): readonly string[] {
  return [
    ...(before === undefined ? [] : [paint("delete", `  - ${path}: ${valueText(before)}`)]),
    ...(after === undefined ? [] : [paint("create", `  + ${path}: ${valueText(after)}`)]),
  ];
}

/** Longest value that is printed whole. */
const valueLengthMax = 200;

function valueText(value: unknown): string {
  const text = typeof value === "string" && /^[\w./:@%+-][\w ./:@%+,-]*$/.test(value) ? value : encodeJson(value);
  return text.length <= valueLengthMax ? text : `${text.slice(0, valueLengthMax)}… (${text.length} characters)`;
}

function refusedText(refused: readonly ExplainedWrite[], paint: Paint): readonly string[] {
  const lines = refused.map(({ verb, place, refused: status, note, file }) => {
    const by = note === undefined ? file : `${note.controller} of ${note.key}`;
    const who = by === undefined ? "" : ` by ${by}`;
    const where = `${place.namespace === "" ? "" : `${place.namespace}/`}${place.name}`;
    return paint("delete", `! ${verb} of ${place.resource} ${where}${who} would be refused: ${status?.message ?? ""}`);
  });
  return [...new Set(lines)].map((line) => `${line}\n`);
}

/** Nothing after it is planned: what follows depends on it. */
function outsideText(outside: readonly OutsideChange[], paint: Paint): readonly string[] {
  const lines = outside.map(({ what, note }) => {
    const who = note === undefined ? "" : ` by ${note.controller} of ${note.key}`;
    const why = note === undefined || note.reasons.length === 0 ? "" : `: ${note.reasons.join("; ")}`;
    return paint("change", `> outside of the API${who}: would ${what}, and go on from there${why}`);
  });
  return [...new Set(lines)].map((line) => `${line}\n`);
}

/** What follows is not known, or it is what the objects of the API say. */
function unreachedText(unreached: readonly Unreached[], paint: Paint): readonly string[] {
  const lines = unreached.map(({ what, instead, note }) => {
    const who = note === undefined ? "The operator" : `${note.controller} of ${note.key}`;
    const then = instead === undefined ? "what it would do next is not known" : `it uses ${instead} instead`;
    return paint("change", `? ${who} could not reach ${what} from here: ${then}`);
  });
  return [...new Set(lines)].map((line) => `${line}\n`);
}

function errorText(error: unknown): string {
  if (error instanceof Error) return `: ${error.message}`;
  return isJsonObject(error) && typeof error["message"] === "string" ? `: ${error["message"]}` : "";
}

function summaryOf(
  { isComplete, writes, outside, unreached }: Plan,
  objects: readonly ChangedObject[],
  refused: number,
): string {
  const count = (change: Change): number => objects.filter((each) => each.change === change).length;
  const end = openEnd(isComplete, unreached);
  if (objects.length === 0 && refused === 0 && outside.length === 0) return `No changes.${end}\n`;
  const events = writes.filter(isEvent).length;
  const told = events === 0 ? "" : `, ${events} event${events === 1 ? "" : "s"}`;
  const no = refused === 0 ? "" : `, ${refused} refused`;
  const beyond = outside.length === 0 ? "" : ", more outside of the API";
  return `${count("create")} to create, ${count("change")} to change, ${count("delete")} to delete${no}${beyond}${told}.${end}\n`;
}

/** Why there may be more. */
function openEnd(isComplete: boolean, unreached: readonly Unreached[]): string {
  if (!isComplete) return " The operator was still at work when the time was over: there may be more.";
  const hasEnded = unreached.some(({ instead }) => instead === undefined);
  return hasEnded ? " There may be more behind what could not be reached." : "";
}

type Paint = (change: Change, text: string) => string;

const plain: Paint = (_, text) => text;
const codes: Readonly<Record<Change, number>> = { create: 32, change: 33, delete: 31 };
const colored: Paint = (change, text) => `\u001B[${codes[change]}m${text}\u001B[0m`;
