/** Writes a request as HTTP/1.1 sends it (RFC 9112). */
import { type ApiRequest, SetpointError } from "@setpoint/apimachinery";

export type HeaderValues = Readonly<Record<string, string | readonly string[]>>;

/** Path and query of a request. */
export function target({ path, query }: ApiRequest): string {
  if (query === undefined) return path;
  const parts: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    const values = typeof value === "string" ? [value] : value;
    for (const each of values) parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(each)}`);
  }
  return parts.length === 0 ? path : `${path}?${parts.join("&")}`;
}

/**
 * The request line and the headers, with the empty line at their end. Errors: `ERR_BAD_HEADER` for a value
 * that would end its line, and so begin a header, or a request, of its own.
 */
export function headText(method: string, place: string, headers: HeaderValues): string {
  let text = `${method} ${place.replaceAll(/[^\x21-\x7e]/gu, encoded)} HTTP/1.1\r\n`;
  for (const [name, values] of Object.entries(headers)) {
    if (typeof values === "string") text += headerLine(name, values);
    else for (const value of values) text += headerLine(name, value);
  }
  return `${text}\r\n`;
}

function headerLine(name: string, value: string): string {
  if (!/[\r\n\0]/.test(value)) return `${name}: ${value}\r\n`;
  throw new SetpointError(
    "ERR_BAD_HEADER",
    `Cannot send the header ${name}: its value has a line break, expected one line`,
  );
}

/** Half a surrogate pair has no encoding of its own. */
function encoded(character: string): string {
  return encodeURIComponent(character.toWellFormed());
}
