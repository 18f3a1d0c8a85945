import type { KubeObject } from "@setpoint/apimachinery";
import { fingerprint } from "./fingerprint.ts";

/**
 * Children carry what was applied to them, as `<field manager>/<fingerprint>`: after a restart this tells, without asking
 * the server, that nothing is to do, and which children this controller applied.
 */
export const appliedAnnotation = "setpoint.dev/applied";

/** The object with the mark of its own content. */
export function withAppliedMark<T extends KubeObject>(object: T, fieldManager: string): T {
  const mark = `${fieldManager}/${fingerprint(JSON.stringify(object))}`;
  const annotations = { ...object.metadata.annotations, [appliedAnnotation]: mark };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

export function isAppliedBy(object: KubeObject, fieldManager: string): boolean {
  return object.metadata.annotations?.[appliedAnnotation]?.startsWith(`${fieldManager}/`) ?? false;
}
