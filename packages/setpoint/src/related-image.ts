/**
 * The variable by which a Deployment tells its operator where an image is: `RELATED_IMAGE_ETCD_3_5_16`. Tools
 * of the Operator Lifecycle Manager put a digest or a mirror into it.
 */
export function relatedImageVariable(name: string): string {
  return `RELATED_IMAGE_${name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_")}`;
}
