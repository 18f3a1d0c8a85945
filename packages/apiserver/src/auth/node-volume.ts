/** Volumes that live on one node: which node may write them. */
import type { UnstructuredObject } from "@setpoint/apimachinery";
import { objectsAt } from "../registry/json-fields.ts";

const nodeAnnotation = "setpoint.dev/node";
const hostname = "kubernetes.io/hostname";

/** Whether the volume names the node as its owner and only that node can use it. */
export function isVolumeOf(node: string, volume: UnstructuredObject | undefined): boolean {
  if (volume?.metadata.annotations?.[nodeAnnotation] !== node) return false;
  const terms = objectsAt(volume, "spec", "nodeAffinity", "required", "nodeSelectorTerms");
  return (
    terms.length > 0 && terms.every((term) => objectsAt(term, "matchExpressions").some((each) => isOnly(node, each)))
  );
}

function isOnly(node: string, { key, operator, values }: Readonly<Record<string, unknown>>): boolean {
  return key === hostname && operator === "In" && Array.isArray(values) && values.length === 1 && values[0] === node;
}
