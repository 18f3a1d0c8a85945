/** Names of what is written, where the input has none that a kind takes. */

/** No two objects of one kind and namespace get the same name. */
export class Names {
  readonly #taken = new Set<string>();

  /** `wanted`, or the same with a number. */
  unique(kind: string, namespace: string | undefined, wanted: string): string {
    const keyOf = (name: string): string => `${kind}/${namespace ?? ""}/${name}`;
    let name = wanted;
    for (let number = 2; this.#taken.has(keyOf(name)); number += 1) name = `${wanted}-${number}`;
    this.#taken.add(keyOf(name));
    return name;
  }
}

/** As the name of an object of Kubernetes may be. */
export function objectName(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}

/** The BackupStore of a cluster, and the Secret with its keys. */
export function storeNameOf(cluster: string): string {
  return `${cluster}-store`;
}
