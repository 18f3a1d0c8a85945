import { readFileSync } from "node:fs";
import {
  cloneJson,
  isApiError,
  isJsonObject,
  type JsonObject,
  type ManagedFieldsEntry,
  mergePatch,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { describe, expect, test } from "vitest";
import { strategicMergePatch } from "../patch/strategic-merge-patch.ts";
import { applyPatch } from "./apply-patch.ts";
import { trackUpdate } from "./track-update.ts";

/** One request to a real kube-apiserver with its answer; uid, resourceVersion and times are masked. */
interface Step {
  readonly verb: "apply" | "create" | "merge" | "strategic";
  readonly manager: string;
  readonly force?: boolean;
  readonly body: JsonObject;
  readonly code: number;
  readonly answer: JsonObject;
}

interface Recording {
  readonly title: string;
  readonly steps: readonly Step[];
}

function load(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`fixtures/${name}.json`, import.meta.url), "utf8"));
}

type Outcome = { readonly object: JsonObject; readonly managedFields: unknown } | { readonly error: JsonObject };

function replay(schema: StructuralSchema, step: Step, live: UnstructuredObject | undefined): Outcome {
  const apiVersion = live?.apiVersion ?? String(step.body["apiVersion"]);
  const common = { schema, live, manager: step.manager, apiVersion, subresource: "", time: "T" };
  try {
    if (step.verb === "apply") {
      return applyPatch({ ...common, patch: step.body as unknown as UnstructuredObject, force: step.force === true });
    }
    const object = written(schema, step, live);
    return { object, managedFields: trackUpdate({ ...common, object }) };
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { error: error.status as unknown as JsonObject };
  }
}

function written(schema: StructuralSchema, step: Step, live: UnstructuredObject | undefined): UnstructuredObject {
  if (live === undefined) return step.body as unknown as UnstructuredObject;
  if (step.verb === "strategic") return strategicMergePatch(schema, live, step.body);
  return withoutEmptyMetadata(mergePatch(live, step.body) as UnstructuredObject);
}

/** What decoding does before ownership is tracked: the API knows no empty annotations. */
function withoutEmptyMetadata(object: UnstructuredObject): UnstructuredObject {
  const { annotations, ...metadata } = object.metadata;
  const isEmpty = annotations === undefined || Object.keys(annotations).length === 0;
  return isEmpty ? { ...object, metadata } : object;
}

/** Key order and the order of entries of equal times do not matter. */
function entries(managedFields: unknown): readonly ManagedFieldsEntry[] {
  const list = cloneJson((managedFields ?? []) as ManagedFieldsEntry[]);
  return list
    .map((entry) => ({ ...entry, time: entry.time ?? "none" }))
    .sort((a, b) => (`${a.operation}${a.manager}` < `${b.operation}${b.manager}` ? -1 : 1));
}

/** Upstream lists several faults in random order. */
function withSortedFaults(outcome: Outcome): Outcome {
  if (!("error" in outcome)) return outcome;
  const message = String(outcome.error["message"]).split("\n").sort().join("\n");
  return { error: { ...outcome.error, message } };
}

function content(object: JsonObject): JsonObject {
  const { metadata, ...rest } = object;
  const { managedFields: _, namespace: __, generation: ___, ...meta } = isJsonObject(metadata) ? metadata : {};
  return { ...rest, metadata: meta };
}

/** The live object as our server would hold it: times that the recording masked as null are absent. */
function asLive(answer: JsonObject): UnstructuredObject {
  const object = cloneJson(answer) as unknown as UnstructuredObject;
  const managedFields = object.metadata.managedFields?.map(({ time, ...rest }) => (time ? { ...rest, time } : rest));
  return { ...object, metadata: { ...object.metadata, ...(managedFields === undefined ? {} : { managedFields }) } };
}

const recordings = ["config-map", "updates", "migration", "tracking", "deployment", "widget"] as const;
const schemaOf = {
  "config-map": "config-map",
  updates: "config-map",
  migration: "config-map",
  tracking: "config-map",
  deployment: "deployment",
  widget: "widget",
};

describe.each(recordings)("%s answers as the real API server recorded", (name) => {
  const recording = load(name) as Recording;
  const schema = load(`${schemaOf[name]}.schema`) as StructuralSchema;
  const lives = recording.steps.map((_, index) => recording.steps.slice(0, index).findLast((step) => step.code < 300));
  test.each(recording.steps.map((step, index) => [index, step.verb, step.manager, step] as const))(
    "step %i: %s by %s",
    (index, _verb, _manager, step) => {
      const before = lives[index]?.answer;
      const outcome = replay(schema, step, before === undefined ? undefined : asLive(before));
      // Validation comes after applying and is the registry's.
      if (step.code === 422) return;
      if (step.code >= 300) {
        expect(withSortedFaults(outcome)).toEqual(withSortedFaults({ error: step.answer }));
        return;
      }
      expect(outcome).not.toHaveProperty("error");
      if ("error" in outcome) return;
      const metadata = step.answer["metadata"];
      expect(entries(outcome.managedFields)).toEqual(entries(isJsonObject(metadata) ? metadata["managedFields"] : []));
      // Defaults of built-in kinds are added by the registry afterwards.
      expect(content(step.answer)).toMatchObject(content(outcome.object));
    },
  );
});
