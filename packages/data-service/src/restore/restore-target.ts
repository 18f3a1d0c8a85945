/** Where a Restore ends, and which transfer it takes; pure. */
import type { RestoreTarget, TargetKind } from "../engine/target.ts";
import type { EngineControl } from "../engine/control.ts";
import type { KubeObject } from "@setpoint/apimachinery";
import { targetRefusal } from "../engine/target.ts";
import { storedFolder } from "../kinds/instance.ts";
import type { Restore } from "../kinds/restore.ts";

const kinds: readonly TargetKind[] = ["time", "position", "name", "transaction"];

/** The target as engines understand it; undefined when the Restore has none. */
export function restoreTarget({ spec: { target } }: Restore): RestoreTarget | undefined {
  const kind = kinds.find((each) => target?.[each] !== undefined);
  if (target === undefined || kind === undefined) return undefined;
  const { timeline } = target;
  return { kind, value: target[kind] ?? "", ...(timeline === undefined ? {} : { timeline }) };
}

/** Whether it replays a log: a source that is a backup without a target is restored as a whole. */
export function hasReplay({ spec: { source, target } }: Restore): boolean {
  return source.archive !== undefined || target !== undefined;
}

/** Why the engine cannot restore to the target, or from an archive; undefined when it can. */
export function replayRefusal<Instance extends KubeObject>(
  restore: Restore,
  { log, target: engineTarget }: EngineControl<Instance>,
): string | undefined {
  if (!hasReplay(restore)) return undefined;
  const target = restoreTarget(restore);
  if (target !== undefined) return targetRefusal(target, log === undefined ? undefined : engineTarget);
  const isAble = log !== undefined && engineTarget !== undefined;
  return isAble ? undefined : "this engine has no archive: name a Backup in spec.source";
}

/**
 * What the store has of the instance that the data are of: beside the stored backup, or by the UID of the
 * instance. Undefined when nobody knows the UID.
 */
export function archiveFolder(
  { metadata, spec }: Restore,
  object: string | undefined,
  instanceUID: string | undefined,
): string | undefined {
  if (spec.source.archive === undefined) return object?.replace(/\/[^/]*$/, "");
  const uid = spec.source.archive.instanceUID ?? instanceUID;
  return uid === undefined ? undefined : storedFolder(spec.instance, metadata.namespace ?? "", uid);
}
