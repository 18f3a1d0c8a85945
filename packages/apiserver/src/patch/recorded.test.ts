import { readFileSync } from "node:fs";
import { deepFreeze, isApiError, type JsonObject, type UnstructuredObject } from "@setpoint/apimachinery";
import type { StructuralSchema } from "@setpoint/schema";
import { expect, test } from "vitest";
import { strategicMergePatch } from "./strategic-merge-patch.ts";

/** Patches of one Deployment, and what a real kube-apiserver made of them (as dry runs). */
interface Recording {
  readonly live: UnstructuredObject;
  readonly patches: readonly {
    readonly title: string;
    readonly patch: JsonObject;
    readonly code: number;
    readonly answer: JsonObject;
  }[];
}

function load(path: string): unknown {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
}

const recording = load("fixtures/deployment.json") as Recording;
const schema = load("../apply/fixtures/deployment.schema.json") as StructuralSchema;

function patched(patch: JsonObject): unknown {
  try {
    return strategicMergePatch(schema, deepFreeze(recording.live), deepFreeze(patch));
  } catch (error) {
    if (isApiError(error)) return error.status;
    throw error;
  }
}

test.each(recording.patches)("a strategic merge patch $title", ({ patch, answer }) => {
  // Defaults are added afterwards, so the recorded object may have more.
  expect(answer).toMatchObject(patched(patch) as object);
});
