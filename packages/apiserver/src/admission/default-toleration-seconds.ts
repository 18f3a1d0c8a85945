/**
 * Pods stay five minutes on a node that is not ready or unreachable, unless they have tolerations of their
 * own.
 */
import { ensureObject, type JsonObject, objectsAt } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";

const tolerationSeconds = 300;
const keys = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

function tolerates(toleration: JsonObject, key: string): boolean {
  const matchesKey = toleration["key"] === key || toleration["key"] === undefined || toleration["key"] === "";
  return (
    matchesKey &&
    (toleration["effect"] === undefined || toleration["effect"] === "" || toleration["effect"] === "NoExecute")
  );
}

/** An update that sets other tolerations means these, too. */
function isPodWrite({ definition, operation, subresource }: AdmissionRequest): boolean {
  if (definition.group !== "" || definition.resource !== "pods" || subresource !== "") return false;
  return operation === "CREATE" || operation === "UPDATE";
}

export const defaultTolerationSeconds: AdmissionPlugin = {
  name: "DefaultTolerationSeconds",
  async admit(request) {
    if (!isPodWrite(request) || request.object === undefined) return;
    const spec = ensureObject(request.object as unknown as JsonObject, "spec");
    const present = objectsAt(spec, "tolerations");
    const missing = keys.filter((key) => !present.some((each) => tolerates(each, key)));
    if (missing.length === 0) return;
    const added = missing.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds }));
    spec["tolerations"] = [...present, ...added];
  },
};
