/** Resolves a pod's priority class into the number that the scheduler compares. */
import { lookupTable } from "@setpoint/apimachinery";
import { objectAt, stringAt, type JsonObject, ensureObject, textOf } from "../registry/json-fields.ts";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import { forbiddenByAdmission } from "./namespace-lifecycle.ts";
import { isPodCreation } from "./service-account-admission.ts";

/** The built-in classes, which hold even before their objects exist. */
const systemClasses: Readonly<Record<string, number>> = lookupTable({
  "system-node-critical": 2_000_001_000,
  "system-cluster-critical": 2_000_000_000,
});

interface ResolvedPriority {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string;
}

function resolve(request: AdmissionRequest, name: string): ResolvedPriority {
  const found =
    name === "" ? defaultClass(request) : request.reader.get("scheduling.k8s.io", "priorityclasses", "", name);
  if (found !== undefined) {
    const { value } = objectAt({ found }, "found");
    const preemptionPolicy = stringAt(found, "preemptionPolicy") || "PreemptLowerPriority";
    return { name: found.metadata.name ?? "", value: typeof value === "number" ? value : 0, preemptionPolicy };
  }
  const system = systemClasses[name];
  if (name !== "" && system === undefined)
    throw forbiddenByAdmission(request, `no PriorityClass with name ${name} was found`);
  return { name, value: system ?? 0, preemptionPolicy: "PreemptLowerPriority" };
}

/** The class marked as global default; of several the one with the lowest value. */
function defaultClass(request: AdmissionRequest): ReturnType<AdmissionRequest["reader"]["get"]> {
  const defaults = request.reader
    .list("scheduling.k8s.io", "priorityclasses")
    .filter((each) => each["globalDefault"] === true);
  return defaults.toSorted((left, right) => Number(left["value"]) - Number(right["value"]))[0];
}

async function admit(request: AdmissionRequest): Promise<void> {
  if (!isPodCreation(request) || request.object === undefined) return;
  const spec = ensureObject(request.object as unknown as JsonObject, "spec");
  const { name, value, preemptionPolicy } = resolve(request, stringAt(spec, "priorityClassName"));
  if (spec["priority"] !== undefined && spec["priority"] !== value) {
    throw forbiddenByAdmission(
      request,
      `the integer value of priority (${textOf(spec["priority"])}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    );
  }
  if (name !== "") spec["priorityClassName"] = name;
  spec["priority"] = value;
  spec["preemptionPolicy"] ??= preemptionPolicy;
}

export const priorityAdmission: AdmissionPlugin = { name: "Priority", admit };
