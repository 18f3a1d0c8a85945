/** Reads the keys of Secrets and ConfigMaps that objects name: each object once, and no other one. */
import type { ReconcileContext } from "setpoint";
import { ConfigMap, Secret } from "setpoint/kinds";
import { type AssetKey, assetPath, Assets } from "../generate/assets.ts";

/** Requests at the same time. */
const parallelMax = 8;

export async function readAssets(keys: readonly AssetKey[], context: ReconcileContext): Promise<Assets> {
  const byObject = Map.groupBy(keys, ({ kind, namespace, name }) => `${kind}/${namespace}/${name}`);
  const wanted = [...byObject.values()];
  const values = new Map<string, string>();
  for (let at = 0; at < wanted.length; at += parallelMax) {
    const batch = wanted.slice(at, at + parallelMax).map((each) => readObject(each, values, context));
    await Promise.all(batch);
  }
  return new Assets(values);
}

/** All keys are of one object. */
async function readObject(
  keys: readonly AssetKey[],
  values: Map<string, string>,
  context: ReconcileContext,
): Promise<void> {
  const [first] = keys;
  if (first === undefined) return;
  const data = await dataOf(first, context);
  for (const asset of keys) {
    const value = data[asset.key];
    if (value !== undefined) values.set(assetPath(asset), value);
  }
}

async function dataOf(
  { kind, name, namespace }: AssetKey,
  { fresh }: ReconcileContext,
): Promise<Readonly<Record<string, string>>> {
  if (kind === "ConfigMap") return (await fresh(ConfigMap, name, namespace))?.data ?? {};
  const secret = await fresh(Secret, name, namespace);
  const entries = Object.entries(secret?.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, "base64").toString("utf8")]));
}
