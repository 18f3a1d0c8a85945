/** Why a connection to etcd failed, in words that name what to change; pure. */

/** By the code of Node, or the words of OpenSSL. */
const known: readonly (readonly [RegExp, string])[] = [
  [/UNABLE_TO_|SELF_SIGNED|CERT_SIGNATURE_FAILURE/, "its certificate is not signed by an authority in ca.crt"],
  [/CERT_HAS_EXPIRED/, "its certificate has expired"],
  [/ERR_TLS_CERT_ALTNAME_INVALID/, "its certificate is for other hosts"],
  [
    /alert.(certificate.required|bad.certificate|unknown.ca)/i,
    "it asks for a client certificate of an authority that it trusts: tls.crt and tls.key",
  ],
  [/wrong.version.number|packet.length.too.long/i, "it does not speak TLS: its URL begins with http"],
];

/** The words for an error of a connection to a URL, with its code. */
export function connectionFailure(url: string, cause: unknown): string {
  const { code, message = "unknown error" } = cause as { code?: string; message?: string };
  // A member that speaks TLS only ends a connection without it.
  if (code === "ECONNRESET" && url.startsWith("http:"))
    return "the connection was reset (ECONNRESET); if it speaks TLS, its URL begins with https";
  const words = known.find(([pattern]) => pattern.test(`${code} ${message}`))?.[1];
  return words === undefined ? (code ?? message) : `${words} (${code ?? message})`;
}

/** The words for an answer that is not etcd's. */
export function foreignAnswer(status: number | undefined, text: string): string {
  if (status === 400 && text.includes("HTTP request to an HTTPS server"))
    return "it speaks TLS: its URL begins with https";
  if (status === 404) return "it has no JSON gateway: it is older than 3.4, or runs with --enable-grpc-gateway=false";
  return `it answered ${status} without JSON`;
}

/** What a refusal asks for, beside etcd's own words. */
export function refusalHint(message: string, hasLogin: boolean): string {
  if (!hasLogin && /user name is empty|permission denied|auth token/i.test(message))
    return " It asks for a login: username and password.";
  return /permission denied/i.test(message)
    ? " The user lacks the right: a snapshot needs the role root, a mirror the right to its keys."
    : "";
}
