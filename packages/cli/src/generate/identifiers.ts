/** Names of generated types: valid in TypeScript, and each given once. */

/** `pod-template` → `PodTemplate`, `clusterIP` → `ClusterIP`, `3scale` → `_3scale`. */
export function pascalCase(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join("");
  return /^[A-Za-z]/.test(joined) ? joined : `_${joined}`;
}

/** A field's name as it stands in an interface. */
export function fieldName(name: string): string {
  return /^[A-Za-z_$][A-Za-z0-9_$]*$/.test(name) ? name : JSON.stringify(name);
}

/** Gives each name once in a file: the second asker of `Widget` gets `Widget2`. */
export class NameTable {
  readonly #taken: Set<string>;

  constructor(reserved: readonly string[]) {
    this.#taken = new Set(reserved);
  }

  claim(wanted: string): string {
    let name = wanted;
    for (let count = 2; this.#taken.has(name); count++) name = `${wanted}${count}`;
    this.#taken.add(name);
    return name;
  }
}
