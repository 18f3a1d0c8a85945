/** Stories that begin where a recording has ended. */
import type { KubeObject } from "@setpoint/apimachinery";
import { happens, type StoryStep } from "./story.ts";

/** Fields that the server sets; a recreated object has its own. */
const ofTheServer = new Set([
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
]);

/**
 * A first step that makes these objects, as a recording or `kubectl get -o json` shows them: owners before
 * what they own, with the new UIDs of the owners in place of the old ones, and each with its status. What the
 * world's own controllers make by themselves (service accounts, the Service `kubernetes`) may be among them.
 */
export function worldFrom(objects: readonly KubeObject[]): StoryStep {
  return happens(`${objects.length} recorded objects are made`, async (world) => {
    const uids = new Map<string, string>();
    const mapper = await world.wait(world.client.discover());
    for (const object of ownersFirst(objects)) {
      const made = await world.apply(asNew(object, uids));
      const { uid } = object.metadata;
      if (uid !== undefined) uids.set(uid, made.metadata.uid);
      const { status } = object as KubeObject & { readonly status?: unknown };
      if (status === undefined) continue;
      const { name, namespace } = made.metadata;
      const key = namespace === undefined ? { name } : { name, namespace };
      const patched = world.client.patch(mapper.ofObject(object), key, { status }, { subresource: "status" });
      // A kind without the subresource has taken its status already.
      await world.wait(patched.catch(() => {}));
    }
  });
}

function ownersFirst(objects: readonly KubeObject[]): readonly KubeObject[] {
  const byUid = new Map(objects.map((object) => [object.metadata.uid, object]));
  const ordered = new Set<KubeObject>();
  const visit = (object: KubeObject, path: ReadonlySet<KubeObject>): void => {
    if (ordered.has(object) || path.has(object)) return;
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const owner = byUid.get(uid);
      if (owner !== undefined) visit(owner, new Set([...path, object]));
    }
    ordered.add(object);
  };
  const rank = ({ kind }: KubeObject): number => ["CustomResourceDefinition", "Namespace"].indexOf(kind);
  for (const object of objects.toSorted((a, b) => rank(b) - rank(a))) visit(object, new Set());
  return [...ordered];
}

function asNew(object: KubeObject, uids: ReadonlyMap<string, string>): KubeObject {
  const kept = Object.entries(object.metadata).filter(([field]) => !ofTheServer.has(field));
  const owners = object.metadata.ownerReferences?.flatMap((owner) => {
    const uid = uids.get(owner.uid);
    return uid === undefined ? [] : [{ ...owner, uid }];
  });
  const metadata = {
    ...Object.fromEntries(kept),
    ...(owners === undefined || owners.length === 0 ? { ownerReferences: [] } : { ownerReferences: owners }),
  };
  return { ...object, metadata };
}
