/**
 * NamespaceLifecycle: rejects creates in missing or terminating namespaces, and deletes of system namespaces.
 */
import { ApiError, failure, groupResource, type StatusDetails } from "@setpoint/apimachinery";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";

const immortal: ReadonlySet<string> = new Set(["default", "kube-system", "kube-public"]);
/** Reviews only ask; they are answered for namespaces that do not exist too. */
const reviews: ReadonlySet<string> = new Set(["localsubjectaccessreviews"]);

/** A 403 in upstream's form: `pods "web" is forbidden: why`. */
export function forbiddenByAdmission(
  request: AdmissionRequest,
  why: string,
  more?: Pick<StatusDetails, "causes">,
): ApiError {
  const { group, resource } = request.definition;
  const name = request.name === "" ? (request.object?.metadata.generateName ?? "") : request.name;
  const subject =
    name === "" ? groupResource({ group, resource }) : `${groupResource({ group, resource })} ${JSON.stringify(name)}`;
  const details = { ...(name === "" ? {} : { name }), ...(group === "" ? {} : { group }), kind: resource, ...more };
  return new ApiError(failure(403, "Forbidden", `${subject} is forbidden: ${why}`, details));
}

function needsNamespace({ operation, definition, namespace }: AdmissionRequest): boolean {
  return operation === "CREATE" && definition.namespaced && namespace !== "" && !reviews.has(definition.resource);
}

/** The namespace may be deleted during the write; then no controller would delete the created object. */
function isNamespaceOpen(request: AdmissionRequest): boolean {
  if (!needsNamespace(request)) return true;
  const found = request.reader.get("", "namespaces", "", request.namespace);
  return found !== undefined && (found.metadata.deletionTimestamp === undefined || request.subresource !== "");
}

async function checkNamespace(request: AdmissionRequest): Promise<void> {
  const { namespace, definition, reader } = request;
  if (
    request.operation === "DELETE" &&
    definition.group === "" &&
    definition.resource === "namespaces" &&
    immortal.has(request.name)
  ) {
    throw forbiddenByAdmission(request, "this namespace may not be deleted");
  }
  if (!needsNamespace(request)) return;
  const found = reader.get("", "namespaces", "", namespace);
  if (found === undefined) {
    throw new ApiError(
      failure(404, "NotFound", `namespaces ${JSON.stringify(namespace)} not found`, {
        name: namespace,
        kind: "namespaces",
      }),
    );
  }
  // A subresource of something that exists (a binding, an eviction) may still happen while the namespace
  // ends.
  if (found.metadata.deletionTimestamp === undefined || request.subresource !== "") return;
  const message = `namespace ${namespace} is being terminated`;
  throw forbiddenByAdmission(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    {
      causes: [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }],
    },
  );
}

export const namespaceLifecycle: AdmissionPlugin = {
  name: "NamespaceLifecycle",
  admit: checkNamespace,
  stillHolds: isNamespaceOpen,
};
