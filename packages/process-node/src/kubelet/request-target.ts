/** The target of a request to the kubelet server, read once and without trust. */

export interface RequestTarget {
  readonly path: string;
  /** Decoded; never empty strings. */
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
}

/** Undefined when the target is no path, or its escapes are no text. */
export function readTarget(url: string | undefined): RequestTarget | undefined {
  if (url === undefined || !url.startsWith("/") || url.startsWith("//")) return undefined;
  try {
    const { pathname, searchParams } = new URL(url, "https://node");
    const segments = pathname
      .split("/")
      .filter((part) => part !== "")
      .map(decodeURIComponent);
    if (segments.some(hasControlCharacter)) return undefined;
    return { path: pathname, segments, query: searchParams };
  } catch {
    return undefined;
  }
}

function hasControlCharacter(text: string): boolean {
  return /\p{Cc}/u.test(text);
}
