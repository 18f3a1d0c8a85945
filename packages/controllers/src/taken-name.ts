import { isSetpointError } from "@setpoint/apimachinery";
import type { ReconcileContext } from "@setpoint/runtime";
import { requeueAfter, type Result } from "@setpoint/runtime";

/** A parent whose children are named by a hash of their template and of this count. */
interface Colliding {
  readonly status?: { readonly collisionCount?: number };
}

/** A child of this parent has the name already, and is another one than the parent wants under it. */
export class TakenName extends Error {}

/**
 * Runs a reconcile that creates a child named by a hash. When another owner or another child has that name,
 * the status counts a collision and the reconcile runs again: the count is part of the hash, so the next name
 * differs.
 */
export async function countingCollisions<T extends Colliding>(
  parent: T,
  context: ReconcileContext,
  reconcile: () => Promise<Result | void>,
): Promise<Result | void> {
  try {
    return await reconcile();
  } catch (error) {
    if (!isSetpointError(error, "ERR_NOT_OWNED") && !(error instanceof TakenName)) throw error;
    await context.status({ ...parent.status, collisionCount: (parent.status?.collisionCount ?? 0) + 1 });
    return requeueAfter(0, "the name of a child is taken, it gets another one");
  }
}
