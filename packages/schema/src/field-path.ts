/** Paths of fields as Kubernetes writes them: `spec.containers[0].name`, `metadata.labels[a/b]`. */

export function joinPath(parent: string, name: string): string {
  return parent === "" ? name : `${parent}.${name}`;
}

export function indexPath(parent: string, index: number): string {
  return `${parent}[${index}]`;
}

/** The value of a key of a map; Kubernetes writes it like a field. */
export function keyPath(parent: string, key: string): string {
  return joinPath(parent, key);
}
