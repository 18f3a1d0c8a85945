/** The deletion of the instance removes everything that its operator has created for it. */
import { type Check, type CheckContext, done, failed, type StepReport, waiting } from "../check.ts";
import { instanceNamed, mainPart } from "../instances.ts";
import { nameOf, namespaceOf, removed } from "../objects.ts";

export const removal: Check = {
  name: "removal",
  needs: "create-and-use",
  steps: [
    noteUid,
    (context) => removed(context, context.acceptance.engine.kind, nameOf(context, mainPart), context.notes["uid"]),
    nothingIsLeft,
  ],
};

async function noteUid(context: CheckContext): Promise<StepReport> {
  const { uid } = (await instanceNamed(context)).metadata;
  if (uid === undefined) return failed("the instance has no UID");
  context.note("uid", uid);
  return done;
}

/** The garbage collector may need a while. */
async function nothingIsLeft(context: CheckContext): Promise<StepReport> {
  const { acceptance, api, notes } = context;
  for (const kind of acceptance.creates) {
    const { items } = await api.client.listAll(kind, { namespace: namespaceOf(context), signal: api.signal });
    const left = items.find(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === notes["uid"]));
    if (left !== undefined) return waiting(`${kind.kind} "${left.metadata.name}" is left of the instance`);
  }
  return done;
}
