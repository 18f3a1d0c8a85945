/** Names and values as they stand in SQL; pure. */

/** A name such as "order" is a word of SQL too. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Standard strings, in which a backslash means itself. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
