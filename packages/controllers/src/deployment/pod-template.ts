import type { Deployment, ReplicaSet } from "@setpoint/api";
import { encodeJson, deepEqual } from "@setpoint/apimachinery";

export const templateHashLabel = "pod-template-hash";

type PodTemplate = NonNullable<Deployment["spec"]>["template"];

/** The alphabet of generated names: hashes become parts of names and must not form words. */
const alphabet = "bcdfghjklmnpqrstvwxz2456789";

/** A hash of a template for names; `collisions` makes it another one when two templates share it. */
export function templateHash(template: PodTemplate, collisions: number): string {
  const text = `${encodeJson(template)}/${collisions}`;
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  return Array.from(hash.toString(10))
    .map((digit) => alphabet[Number(digit)])
    .join("");
}

/** Whether a ReplicaSet runs this template, apart from the label that only its copy has. */
export function hasTemplate(set: ReplicaSet, template: PodTemplate): boolean {
  const own = set.spec?.template;
  if (own === undefined) return false;
  const { [templateHashLabel]: _, ...labels } = own.metadata?.labels ?? {};
  return deepEqual(
    { ...own, metadata: { ...own.metadata, labels } },
    { ...template, metadata: { ...template.metadata, labels: template.metadata?.labels ?? {} } },
  );
}
