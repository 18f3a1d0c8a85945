/** Dates in the form of HTTP headers. */

/** The same day and time some years after `now`, as in an `Expires` header. */
export function timestampYearsAhead(now: number, years: number): string {
  const date = new Date(now);
  date.setUTCFullYear(date.getUTCFullYear() + years);
  return date.toUTCString();
}
