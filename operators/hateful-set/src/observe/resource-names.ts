/** The plural of a kind, which the server knows; remembered, because it does not change. */
import { createKind, type KindRef, type ReconcileContext } from "setpoint";

interface ResourceList {
  readonly resources?: readonly { readonly name: string; readonly kind: string; readonly namespaced?: boolean }[];
}

export class ResourceNames {
  readonly #known = new Map<string, KindRef>();

  /** The kind for requests; undefined when the server does not serve it. */
  async kindOf(apiVersion: string, kind: string, { client, signal }: ReconcileContext): Promise<KindRef | undefined> {
    const key = `${apiVersion}/${kind}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const path = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    const answer = await client.request({ method: "GET", path }, { signal });
    // The parsing border: discovery answers this list.
    const list = answer.kind === "object" ? (answer.object as ResourceList) : {};
    const resource = list.resources?.find((each) => each.kind === kind && !each.name.includes("/"));
    if (resource === undefined) return undefined;
    const [group = "", version = ""] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
    const found = createKind({ group, version, kind, plural: resource.name, namespaced: resource.namespaced === true });
    this.#known.set(key, found);
    return found;
  }
}
