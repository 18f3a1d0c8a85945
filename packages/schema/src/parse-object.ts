/** Parses an object into a kind's type: one error names every invalid field. */
import { SetpointError, type FieldError, type KubeObject } from "@setpoint/apimachinery";
import type { z } from "zod";
import { decode, isDecodeError } from "./decode.ts";
import { indexPath, joinPath } from "./field-path.ts";
import type { RuleEvaluator } from "./rule-evaluator.ts";
import type { StructuralSchema } from "./structural-schema.ts";
import { noField } from "./value-checks.ts";

/** What parsing needs to know of a kind. */
export interface CheckedKind {
  readonly apiVersion: string;
  readonly kind: string;
  readonly schema: StructuralSchema;
  readonly rules: RuleEvaluator;
  readonly spec: z.ZodObject;
  readonly status: z.ZodObject | undefined;
}

interface Draft {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly metadata?: { readonly name?: string; readonly generateName?: string };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export function parseObject(value: unknown, kind: CheckedKind): KubeObject {
  const { draft, problems } = decodeDraft(value, kind);
  if (draft.apiVersion !== kind.apiVersion || draft.kind !== kind.kind) {
    problems.push(`it is ${String(draft.apiVersion)} ${String(draft.kind)}, expected ${kind.apiVersion} ${kind.kind}`);
  }
  const spec = parsePart(kind.spec, draft.spec, "spec", problems);
  const hasStatus = kind.status !== undefined && draft.status !== undefined;
  const status = hasStatus ? parsePart(kind.status, draft.status, "status", problems) : undefined;
  if (problems.length > 0) throw invalidObject(kind, draft, problems);
  // The schema has checked metadata, and the lines above apiVersion and kind.
  const object = { ...(draft as KubeObject), spec, ...(hasStatus ? { status } : {}) } as KubeObject;
  // As on the server, rules run only on objects that are otherwise valid.
  const broken = kind.rules.evaluate(object, undefined);
  if (broken.length > 0) throw invalidObject(kind, draft, broken.map(ruleProblem));
  return object;
}

/** `spec.size: must be odd`; rules of the whole object have no field to name. */
function ruleProblem({ field, message }: FieldError): string {
  const text = message.replace(/^Invalid value: /, "");
  return field === noField ? text : `${field}: ${text}`;
}

function decodeDraft(value: unknown, kind: CheckedKind): { draft: Draft; problems: string[] } {
  try {
    const { value: draft, unknownFields } = decode(kind.schema, value, { unknown: "report" });
    return { draft: draft as Draft, problems: unknownFields.map((path) => `${path}: the kind has no such field`) };
  } catch (error) {
    if (!isDecodeError(error)) throw error;
    throw invalidObject(kind, {}, [error.message]);
  }
}

function parsePart(schema: z.ZodObject | undefined, value: unknown, path: string, problems: string[]): unknown {
  const result = schema?.safeParse(value);
  if (result?.success === true) return result.data;
  for (const issue of result?.error.issues ?? []) problems.push(`${pathText(path, issue.path)}: ${issue.message}`);
  return undefined;
}

function pathText(root: string, segments: readonly PropertyKey[]): string {
  return segments.reduce<string>(
    (path, segment) => (typeof segment === "number" ? indexPath(path, segment) : joinPath(path, String(segment))),
    root,
  );
}

function invalidObject(kind: CheckedKind, draft: Draft, problems: readonly string[]): SetpointError {
  const name = draft.metadata?.name ?? draft.metadata?.generateName ?? "";
  return new SetpointError("ERR_OBJECT_INVALID", `Cannot make ${kind.kind} "${name}": ${problems.join("; ")}`);
}
