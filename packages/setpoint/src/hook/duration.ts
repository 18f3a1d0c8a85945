/** A duration of whole seconds or milliseconds, as Go writes it: `10s`, `500ms`. */
export function millisecondsOf(text: unknown): number | undefined {
  const [, count, unit] = typeof text === "string" ? (/^(\d+)(ms|s)$/.exec(text) ?? []) : [];
  return count === undefined ? undefined : Number(count) * (unit === "s" ? 1_000 : 1);
}
