/** The 409 of an apply that would change fields of other managers. */
import { ApiError, failure, type FieldPathElement, formatFieldPath, type StatusCause } from "@setpoint/apimachinery";
import type { ManagedEntry } from "./managed-entries.ts";

export interface ApplyConflict {
  readonly entry: ManagedEntry;
  readonly path: readonly FieldPathElement[];
}

function describe({ manager, subresource, operation, apiVersion }: ManagedEntry): string {
  const through = subresource === "" ? "" : ` with subresource ${JSON.stringify(subresource)}`;
  return `${JSON.stringify(manager)}${through}${operation === "Update" ? ` using ${apiVersion}` : ""}`;
}

function message(conflicts: readonly ApplyConflict[]): string {
  const [only, ...others] = conflicts;
  if (only !== undefined && others.length === 0) {
    return `Apply failed with 1 conflict: conflict with ${describe(only.entry)}: ${formatFieldPath(only.path)}`;
  }
  const lines: string[] = [];
  for (const entry of new Set(conflicts.map((conflict) => conflict.entry))) {
    lines.push(`conflicts with ${describe(entry)}:`);
    for (const conflict of conflicts) if (conflict.entry === entry) lines.push(`- ${formatFieldPath(conflict.path)}`);
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

/** The error of these conflicts; entries are named in the order given. */
export function applyConflictError(conflicts: readonly ApplyConflict[]): ApiError {
  const causes: StatusCause[] = conflicts.map(({ entry, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${describe(entry)}`,
    field: formatFieldPath(path),
  }));
  return new ApiError(failure(409, "Conflict", message(conflicts), { causes }));
}
