import type { KubeObject } from "@setpoint/apimachinery";
import { stringify } from "yaml";

/**
 * One object as YAML: neither anchors nor folded lines, so that a person can grep it and a diff shows what
 * changed.
 */
export function objectYaml(object: object): string {
  // kubectl and Helm read YAML 1.1, in which a bare `on` or `y` is a boolean.
  return stringify(object, { version: "1.1", aliasDuplicateObjects: false, lineWidth: 0 });
}

/** Objects as one file of YAML documents, in the order given. */
export function manifestsYaml(objects: readonly KubeObject[]): string {
  return objects.map(objectYaml).join("---\n");
}
