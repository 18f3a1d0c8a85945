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
import { resetFieldsOf } from "./reset-fields.ts";
import { parentEntriesAfterScale, scaleEntriesOf } from "./scale-entries.ts";
import { trackUpdate } from "./track-update.ts";

/** One request to a real kube-apiserver with its answer; uid, resourceVersion and times are masked. */
interface Step {
  readonly verb: "apply" | "create" | "merge" | "strategic";
  readonly manager: string;
  readonly force?: boolean;
  readonly sub?: "/status" | "/scale";
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

/**
 * The live object after each step: answers of `/scale` are Scales, so the parent follows from our own
 * account.
 */
test("subresources own their fields separately, as the real API server recorded", () => {
  const schema = load("deployment.schema") as StructuralSchema;
  const { steps } = load("subresources") as Recording;
  let live: UnstructuredObject | undefined;
  for (const [index, step] of steps.entries()) {
    if (step.sub === "/scale" && live !== undefined) {
      live = afterScale(live, step);
      continue;
    }
    const outcome = replaySubresource(schema, step, live);
    if (step.code >= 300) expect(outcome).toEqual({ error: step.answer });
    else if (!("error" in outcome)) {
      const metadata = step.answer["metadata"];
      const recorded = isJsonObject(metadata) ? metadata["managedFields"] : [];
      expect(entries(outcome.managedFields), `step ${index}`).toEqual(entries(recorded));
      live = asLive(step.answer);
    }
  }
  expect(live?.metadata.managedFields).toContainEqual(expect.objectContaining({ manager: "sc", subresource: "scale" }));
});

function replaySubresource(schema: StructuralSchema, step: Step, live: UnstructuredObject | undefined): Outcome {
  const subresource = step.sub === "/status" ? "status" : "";
  const resetFields = resetFieldsOf(
    { ...schema, properties: { ...schema.properties, status: {} } },
    subresource,
    false,
  );
  const common = { schema: withStatus(schema), live, manager: step.manager, subresource, time: "T", resetFields };
  const apiVersion = "apps/v1";
  if (step.verb !== "apply" && live !== undefined) {
    const object: UnstructuredObject = { ...live, status: mergePatch(live["status"], step.body["status"]) };
    return { object, managedFields: trackUpdate({ ...common, apiVersion, object }) };
  }
  try {
    return applyPatch({ ...common, apiVersion, patch: step.body as unknown as UnstructuredObject, force: false });
  } catch (error) {
    if (!isApiError(error)) throw error;
    return { error: error.status as unknown as JsonObject };
  }
}

function withStatus(schema: StructuralSchema): StructuralSchema {
  const integer = { type: "integer" } as const;
  const status = { type: "object", properties: { replicas: integer, observedGeneration: integer } } as const;
  return { ...schema, properties: { ...schema.properties, status } };
}

function afterScale(live: UnstructuredObject, step: Step): UnstructuredObject {
  const specReplicasPath = ".spec.replicas";
  const scaleOf = (object: UnstructuredObject, spec: unknown): UnstructuredObject => ({
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "d", managedFields: scaleEntriesOf(object.metadata.managedFields, specReplicasPath) },
    spec,
  });
  const schema: StructuralSchema = {
    type: "object",
    properties: { spec: { type: "object", properties: { replicas: { type: "integer" } } } },
  };
  const scale = trackUpdate({
    schema,
    live: scaleOf(live, { replicas: 2 }),
    object: scaleOf(live, step.body["spec"]),
    manager: step.manager,
    apiVersion: "autoscaling/v1",
    subresource: "scale",
    time: "T",
  });
  const parent = live.metadata.managedFields;
  const managedFields = parentEntriesAfterScale({ parent, scale, specReplicasPath, apiVersion: live.apiVersion });
  const spec = mergePatch(live["spec"], step.body["spec"]);
  return { ...live, metadata: { ...live.metadata, managedFields }, spec };
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
