/**
 * Measures what a hook costs beside the same function in this process: one sync over loopback, with so many
 * children. Run: node --conditions=@setpoint/source bench/hooks.ts [children]
 */
import { ConfigMap } from "@setpoint/api";
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import { systemHost } from "@setpoint/host/system";
import type { Asked } from "@setpoint/runtime";
import { controller, createKind } from "setpoint";
import { hookController, httpHook, serveHooks } from "setpoint/hook";

interface Candy extends KubeObject {
  readonly spec: { readonly flavors: readonly string[] };
}

const childCount = Number(process.argv[2] ?? "10");
const rounds = 2_000;

const Candy = createKind<Candy>({ group: "e.com", version: "v1", kind: "Candy", plural: "candies", namespaced: true });

const candies = controller(Candy, {
  owns: { wrappers: ConfigMap },
  desired: ({ spec }, { wrappers }) => ({
    children: spec.flavors.map((flavor) => ConfigMap({ name: flavor, data: { flavor } })),
    status: { wrappers: wrappers.length },
  }),
});

const metadata = (name: string): object => ({ name, namespace: "default", uid: name, resourceVersion: "1" });
const flavors = Array.from({ length: childCount }, (_, i) => `flavor-${i}`);
// Stored objects have more metadata than a builder writes.
const stored = (object: object): Stored<KubeObject> => object as Stored<KubeObject>;
const wrappers = flavors.map((flavor) => stored({ ...ConfigMap({ data: { flavor } }), metadata: metadata(flavor) }));
const asked = (kind: string): Asked => ({
  object: stored({ apiVersion: "e.com/v1", kind: "Candy", metadata: metadata("lolly"), spec: { flavors } }),
  owned: { [kind]: wrappers },
  related: {},
  cache: { get: () => undefined, list: () => [] },
  signal: new AbortController().signal,
});

async function measure(what: string, sync: () => unknown): Promise<void> {
  for (let i = 0; i < rounds / 10; i++) await sync();
  const startedMs = performance.now();
  for (let i = 0; i < rounds; i++) await sync();
  const eachUs = ((performance.now() - startedMs) * 1_000) / rounds;
  console.log(`${what}: ${eachUs.toFixed(0)} µs a sync (${childCount} children, ${rounds} one after the other)`);
}

const host = systemHost({ write: () => {} });
await using hooks = await serveHooks([candies], { host });
const remote = hookController({
  kind: Candy,
  children: [ConfigMap],
  sync: httpHook(`${hooks.url}/candy/sync`, { clock: host.clock }),
});

await measure("in this process", () => candies.pure?.sync(asked("wrappers")));
await measure("behind a hook over HTTP", () => remote.pure?.sync(asked("ConfigMap.")));
