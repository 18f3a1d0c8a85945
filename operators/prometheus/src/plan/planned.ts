/** The frame of every plan: what is paused or refused changes nothing. */
import { tlsAssetFile, type AssetKey, type Assets } from "../generate/assets.ts";
import { ConfigurationRefused } from "../generate/generation.ts";
import type { Plan, Wanted } from "./outcome.ts";

export function planned({ paused }: { readonly paused?: boolean | undefined }, wanted: () => Wanted): Plan {
  if (paused === true) return { kind: "paused" };
  try {
    return { kind: "apply", ...wanted() };
  } catch (error) {
    if (!(error instanceof ConfigurationRefused)) throw error;
    return { kind: "refused", refusal: { field: error.field, message: error.message } };
  }
}

/** The files of the keys that exist, by their names. */
export function filesOf(assets: Assets, keys: readonly AssetKey[]): Readonly<Record<string, string>> {
  const files = keys.flatMap((asset) => {
    const value = assets.value(asset);
    return value === undefined ? [] : [[tlsAssetFile(asset), value] as const];
  });
  return Object.fromEntries(files);
}
