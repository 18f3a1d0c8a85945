import type { UnstructuredObject } from "@setpoint/apimachinery";

/** Reads what is stored, at the newest state; for admission, authorization and endpoints. */
export interface ObjectReader {
  get(group: string, resource: string, namespace: string, name: string): UnstructuredObject | undefined;
  list(group: string, resource: string, namespace?: string): readonly UnstructuredObject[];
  /**
   * Objects that others write at this moment and `list` does not show yet: of what is given once, they have
   * their part.
   */
  decided(group: string, resource: string): readonly UnstructuredObject[];
}
