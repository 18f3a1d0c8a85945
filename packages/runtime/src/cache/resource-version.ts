/** Compares resource versions, which are decimal numbers of any size without leading zeros (KEP-5504). */
export function compareResourceVersions(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
