import type { KubeObject } from "@setpoint/apimachinery";
import { fingerprint } from "./fingerprint.ts";

/**
 * Children carry what was applied to them, as `<field manager>/<fingerprint>`: after a restart this tells, without asking
 * the server, that nothing is to do, and which children this controller applied.
 */
export const appliedAnnotation = "setpoint.dev/applied";

/** The object with the mark of its own content; a plain copy, in which fields that were undefined do not exist. */
export function withAppliedMark<T extends KubeObject>(object: T, fieldManager: string): T {
  const text = JSON.stringify(object);
  const copy = JSON.parse(text) as T;
  const annotations = { ...copy.metadata.annotations, [appliedAnnotation]: `${fieldManager}/${fingerprint(text)}` };
  return { ...copy, metadata: { ...copy.metadata, annotations } };
}

export function isAppliedBy(object: KubeObject, fieldManager: string): boolean {
  return object.metadata.annotations?.[appliedAnnotation]?.startsWith(`${fieldManager}/`) ?? false;
}
