/** A namespace of its own for each story. */
import { Namespace, type PodTemplateSpec } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Client, KindRef, Stored } from "@setpoint/client";
import { sleep } from "@setpoint/host";
import type { Deed } from "./fake-kubelet.ts";
import type { Side } from "./sides.ts";

const untilMsMax = 120_000;
const passMs = 100;

export const labels = { app: "web" };

export function template(image = "web:1", deed?: Deed): PodTemplateSpec {
  const command = deed === undefined ? {} : { command: [deed] };
  const restartPolicy = deed === undefined ? "Always" : "Never";
  return { metadata: { labels }, spec: { restartPolicy, containers: [{ name: "main", image, ...command }] } };
}

export class Stage {
  readonly client: Client;
  readonly namespace: string;
  readonly #side: Side;

  constructor(side: Side, namespace: string) {
    this.#side = side;
    this.client = side.client;
    this.namespace = namespace;
  }

  /** A pod is refused before its namespace has its service account. */
  async open(): Promise<void> {
    await this.client.create(Namespace, Namespace({ name: this.namespace }));
    const path = `/api/v1/namespaces/${this.namespace}/serviceaccounts/default`;
    await this.until("the service account", async () => {
      const answer = await this.client.request({ method: "GET", path }).catch(() => undefined);
      return answer !== undefined;
    });
  }

  create<T extends KubeObject>(kind: KindRef<T>, object: T): Promise<Stored<T>> {
    return this.client.create(kind, { ...object, metadata: { ...object.metadata, namespace: this.namespace } });
  }

  patch<T extends KubeObject>(kind: KindRef<T>, name: string, patch: object): Promise<Stored<T>> {
    return this.client.patch(kind, this.key(name), patch);
  }

  get<T extends KubeObject>(kind: KindRef<T>, name: string): Promise<Stored<T>> {
    return this.client.get(kind, this.key(name));
  }

  async list<T extends KubeObject>(kind: KindRef<T>): Promise<readonly Stored<T>[]> {
    return (await this.client.list(kind, { namespace: this.namespace })).items;
  }

  key(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.namespace, name };
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const { clock } = this.#side.host;
    const endMs = clock.now() + untilMsMax;
    while (!(await holds())) {
      if (clock.now() > endMs) throw new Error(`${this.namespace}: waited ${untilMsMax / 1_000} s for ${what}`);
      await sleep(clock, passMs);
    }
  }
}
