/**
 * What follows from a person's pausing an object: an event and a log line when it begins and ends, and
 * silence in between.
 */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";
import { isPaused, pausedAnnotation, pausedMessage } from "../controller/always-wakes.ts";
import type { EventRecorder } from "../events/event-recorder.ts";
import type { KeyState } from "./key-state.ts";

export interface PausePorts {
  readonly controller: string;
  readonly log: Logger;
  readonly events: Pick<EventRecorder, "record">;
}

/** Takes note of whether the object is paused; returns it. */
export function updatePause(state: KeyState, object: Stored<KubeObject>, ports: PausePorts): boolean {
  const { controller, log, events } = ports;
  const wasPaused = state.isPaused;
  const isNew = state.isPauseNew;
  state.isPaused = isPaused(object);
  state.isPauseNew = false;
  if (state.isPaused && !wasPaused) {
    log.info("Paused an object", { object: state.key, annotation: pausedAnnotation });
    if (isNew) events.record(object, controller, { type: "Normal", reason: "Paused", message: pausedMessage });
  }
  if (wasPaused && !state.isPaused) {
    log.info("Resumed an object", { object: state.key });
    events.record(object, controller, { type: "Normal", reason: "Resumed", message: "Reconciled again" });
  }
  return state.isPaused;
}
