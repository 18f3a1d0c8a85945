/** Events are stored as core/v1 and served as events.k8s.io/v1 too, where several fields have other names. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import type { ResourceDefinition } from "../resource-definition.ts";

/** The name in core/v1 and in events.k8s.io/v1. */
const renamed: readonly (readonly [core: string, events: string])[] = [
  ["involvedObject", "regarding"],
  ["message", "note"],
  ["source", "deprecatedSource"],
  ["firstTimestamp", "deprecatedFirstTimestamp"],
  ["lastTimestamp", "deprecatedLastTimestamp"],
  ["count", "deprecatedCount"],
  ["reportingComponent", "reportingController"],
];

const toEvents = new Map(renamed);
const toCore = new Map(renamed.map(([core, events]) => [events, core]));

function rename(event: UnstructuredObject, names: ReadonlyMap<string, string>, apiVersion: string): UnstructuredObject {
  const converted: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(event)) converted[names.get(field) ?? field] = value;
  return { ...converted, apiVersion, kind: "Event", metadata: event.metadata };
}

export const eventConversion: NonNullable<ResourceDefinition["convert"]> = {
  fromStored: (event) => rename(event, toEvents, "events.k8s.io/v1"),
  toStored: (event) => rename(event, toCore, "v1"),
};
