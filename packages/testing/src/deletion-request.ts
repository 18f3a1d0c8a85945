/** Requests that delete objects: deletions by name or by selector, and evictions. */
import type { ApiRequest } from "@setpoint/apimachinery";

/** What a request deletes. */
export interface DeletionRequest {
  /** The precondition that the object has this UID; undefined when it has none. */
  readonly uid: string | undefined;
}

/** The parsing border: bodies of requests as far as deletions need them. */
interface DeleteOptionsBody {
  readonly preconditions?: { readonly uid?: string };
}

const eviction = /\/pods\/[^/]+\/eviction$/;

/** Undefined for a request that deletes nothing. */
export function deletionOf({ method, path, body }: ApiRequest): DeletionRequest | undefined {
  const fields = typeof body === "object" && body !== null ? body : {};
  if (method === "DELETE") return { uid: uidIn(fields) };
  if (method !== "POST" || !eviction.test(path)) return undefined;
  return { uid: uidIn((fields as { readonly deleteOptions?: DeleteOptionsBody }).deleteOptions) };
}

function uidIn(options: DeleteOptionsBody | undefined): string | undefined {
  return options?.preconditions?.uid;
}
