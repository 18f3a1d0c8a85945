/** What the operator says to instances; pure. */
import { hashOf } from "../instance/document-hash.ts";
import type { Seen, SeenInstance } from "../seen/seen.ts";
import { act, type PostgresStep } from "./postgres-step.ts";
import { wantedDocument } from "./wanted.ts";

/** What each instance should be, to those of them that follow something else. */
export function planInstructions(
  seen: Seen,
  isOf: (instance: SeenInstance) => boolean = () => true,
): PostgresStep | undefined {
  const wanted = hashOf(wantedDocument(seen));
  const { term = 0 } = seen.cluster.status ?? {};
  const others = seen.instances.filter(
    (each) => isOf(each) && each.report !== undefined && each.report.follows !== wanted && each.report.term <= term,
  );
  if (others.length === 0) return undefined;
  const names = others.map(({ name }) => name);
  return act("instruct", { instances: names }, `${names.join(", ")} must learn of the present primary and settings`);
}
