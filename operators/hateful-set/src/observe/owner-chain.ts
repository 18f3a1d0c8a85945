/** From a pod to the outermost object that keeps it alive. */
import { isNotFound, type KubeObject, type ReconcileContext } from "setpoint";
import { isForbidden } from "setpoint/client";
import type { ResourceNames } from "./resource-names.ts";

/** A ReplicaSet of a Deployment of an application is the longest chain that is usual. */
const chainMax = 4;

/** Which object it is, and the object where it could be read. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly object: KubeObject | undefined;
  readonly unreadable: string | undefined;
}

/** Reads each owner once. */
export class OwnerChains {
  readonly #names: ResourceNames;
  readonly #context: ReconcileContext;
  readonly #namespace: string;
  readonly #read = new Map<string, Promise<Owner>>();

  constructor(names: ResourceNames, context: ReconcileContext, namespace: string) {
    this.#names = names;
    this.#context = context;
    this.#namespace = namespace;
  }

  /** The owners of an object, the nearest first; none for an object that nothing controls. */
  async of(object: KubeObject): Promise<readonly Owner[]> {
    const chain: Owner[] = [];
    let next: KubeObject | undefined = object;
    while (next !== undefined && chain.length < chainMax) {
      const reference = next.metadata.ownerReferences?.find(({ controller }) => controller === true);
      if (reference === undefined || reference.kind === "Node") break;
      const owner: Owner = await this.read(reference);
      chain.push(owner);
      next = owner.object;
    }
    return chain;
  }

  read(reference: Pick<Owner, "apiVersion" | "kind" | "name">): Promise<Owner> {
    const { apiVersion, kind, name } = reference;
    const key = `${apiVersion}/${kind}/${name}`;
    const known = this.#read.get(key);
    if (known !== undefined) return known;
    const asked = this.#ask(apiVersion, kind, name);
    this.#read.set(key, asked);
    return asked;
  }

  async #ask(apiVersion: string, kind: string, name: string): Promise<Owner> {
    const owner = { apiVersion, kind, name, object: undefined, unreadable: undefined };
    try {
      const ref = await this.#names.kindOf(apiVersion, kind, this.#context);
      if (ref === undefined) return { ...owner, unreadable: `the server does not serve ${apiVersion} ${kind}` };
      const place = ref.namespaced ? { namespace: this.#namespace } : {};
      const { client, signal } = this.#context;
      return { ...owner, object: await client.get(ref, { name, ...place }, { signal }) };
    } catch (error) {
      if (isNotFound(error)) return owner;
      if (!isForbidden(error)) throw error;
      const group = apiVersion.split("/")[0];
      return { ...owner, unreadable: `the operator may not get ${kind} of ${group}; grant it` };
    }
  }
}
