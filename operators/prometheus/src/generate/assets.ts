/** The keys of Secrets and ConfigMaps that a configuration contains; read before it is made. */
import type { KeySelector, SecretOrConfigMap } from "../kind/references.ts";

export type AssetKind = "Secret" | "ConfigMap";

export interface AssetKey {
  readonly kind: AssetKind;
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Where the files of TLS are in the pod. */
export const tlsAssetsFolder = "/etc/prometheus/certs";

/** Values by their keys; it holds only what was referenced. */
export class Assets {
  readonly #values: ReadonlyMap<string, string>;

  constructor(values: ReadonlyMap<string, string> = new Map()) {
    this.#values = values;
  }

  has(asset: AssetKey): boolean {
    return this.#values.has(assetPath(asset));
  }

  value(asset: AssetKey): string | undefined {
    return this.#values.get(assetPath(asset));
  }

  secret(namespace: string, selector: KeySelector | undefined): string | undefined {
    return selector === undefined ? undefined : this.#values.get(assetPath(assetKey("Secret", namespace, selector)));
  }

  secretOrConfigMap(namespace: string, reference: SecretOrConfigMap): string | undefined {
    const asset = assetOf(namespace, reference);
    return asset === undefined ? undefined : this.#values.get(assetPath(asset));
  }
}

export function assetKey(kind: AssetKind, namespace: string, { name = "", key }: KeySelector): AssetKey {
  return { kind, namespace, name, key };
}

/** The key that a reference names; undefined when it names none. */
export function assetOf(namespace: string, { secret, configMap }: SecretOrConfigMap): AssetKey | undefined {
  if (secret !== undefined) return assetKey("Secret", namespace, secret);
  return configMap === undefined ? undefined : assetKey("ConfigMap", namespace, configMap);
}

export function assetPath({ kind, namespace, name, key }: AssetKey): string {
  return `${kind}/${namespace}/${name}/${key}`;
}

/** The name of the file that has a key of TLS; upstream's names. */
export function tlsAssetFile({ kind, namespace, name, key }: AssetKey): string {
  return `${kind === "Secret" ? 0 : 1}_${namespace}_${name}_${key}`;
}
