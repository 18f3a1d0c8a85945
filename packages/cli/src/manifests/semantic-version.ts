/** Helm and the Operator Lifecycle Manager take no other. */
export function isSemanticVersion(text: string): boolean {
  return /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/.test(text);
}
