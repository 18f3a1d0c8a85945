/**
 * Objects in memory behind a Transport: merge patches and UIDs, and no more of a server than tests of volumes
 * need.
 */
import {
  type ApiRequest,
  type ApiResponse,
  failure,
  type KubeObject,
  mergePatch,
  type NamespacedName,
  type Status,
  type Transport,
} from "@setpoint/apimachinery";
import { type Client, createClient, type KindRef, parseResourceRequest, type Stored } from "@setpoint/client";
import { simulatedHost } from "@setpoint/host/simulated";

export class FakeCluster implements Transport {
  readonly client: Client = createClient(this, simulatedHost(1));
  readonly objects = new Map<string, KubeObject>();
  /** Answers creates of subresources, such as `serviceaccounts/token`. */
  onSubresource: (object: KubeObject) => object = (object) => object;
  #uids = 0;

  add<T extends KubeObject>(kind: KindRef<T>, object: T): Stored<T> {
    return this.#add(kind.plural, object) as Stored<T>;
  }

  remove(kind: KindRef, { namespace = "", name }: NamespacedName): void {
    this.objects.delete(`${kind.plural}/${namespace}/${name}`);
  }

  async send(request: ApiRequest): Promise<ApiResponse> {
    const object = this.#answer(request);
    return { kind: "object", status: "code" in object ? Number(object.code) : 200, headers: {}, object };
  }

  #answer(request: ApiRequest): object | Status {
    const { verb, resource, subresource, namespace = "", name = "" } = parseResourceRequest(request) ?? {};
    const key = `${resource}/${namespace}/${name}`;
    const body = request.body as KubeObject;
    if (verb === "create" && subresource !== "") return this.onSubresource(body);
    if (verb === "create") {
      const taken = this.objects.has(`${resource}/${namespace}/${body.metadata.name}`);
      return taken
        ? failure(409, "AlreadyExists", `"${body.metadata.name}" already exists`)
        : this.#add(resource, body);
    }
    if (verb === "list") {
      const items = [...this.objects].filter(([each]) => each.startsWith(`${resource}/`)).map(([, object]) => object);
      return { metadata: { resourceVersion: "1" }, items };
    }
    const found = this.objects.get(key);
    if (found === undefined) return failure(404, "NotFound", `${resource} "${name}" not found`);
    if (verb === "delete") this.objects.delete(key);
    if (verb === "patch") this.objects.set(key, mergePatch(found, body) as KubeObject);
    return this.objects.get(key) ?? found;
  }

  #add(resource: string | undefined, object: KubeObject): KubeObject {
    const uid = object.metadata.uid ?? `uid-${++this.#uids}`;
    const stored = { ...object, metadata: { ...object.metadata, uid } };
    const { namespace = "", name = "" } = object.metadata;
    this.objects.set(`${resource}/${namespace}/${name}`, stored);
    return stored;
  }
}
