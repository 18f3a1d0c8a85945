/** A pod names a runtime class that there is, and gets the class's overhead. */
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { ensureObject, type JsonObject, objectAt, stringAt } from "../registry/json-fields.ts";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";
import { isPodCreation } from "./service-account-admission.ts";

async function admit(request: AdmissionRequest): Promise<void> {
  if (!isPodCreation(request) || request.object === undefined) return;
  const spec = ensureObject(request.object as unknown as JsonObject, "spec");
  const name = stringAt(spec, "runtimeClassName");
  if (name === "") return;
  const found = request.reader.get("node.k8s.io", "runtimeclasses", "", name);
  if (found === undefined)
    throw forbiddenByAdmission(request, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  const overhead = objectAt(found, "overhead")["podFixed"];
  if (overhead !== undefined) spec["overhead"] ??= structuredClone(overhead);
}

export const runtimeClassAdmission: AdmissionPlugin = { name: "RuntimeClass", admit };
