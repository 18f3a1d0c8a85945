/** `WWW-Authenticate` as registries send it. */
export interface Challenge {
  readonly scheme: "basic" | "bearer";
  readonly parameters: Readonly<Record<string, string>>;
}

/** What a header may have at most; what lies beyond is not looked at. */
const lengthMax = 8_192;

/** The first challenge that a client can answer; Bearer goes before Basic. */
export function parseChallenge(header: string): Challenge | undefined {
  const text = header.slice(0, lengthMax);
  const starts = [...text.matchAll(/(?:^|,\s*)(Basic|Bearer)(?:\s+|$)/gi)];
  const start = starts.find(([, scheme = ""]) => scheme.toLowerCase() === "bearer") ?? starts[0];
  if (start === undefined) return undefined;
  const end = starts.find(({ index }) => index > start.index)?.index;
  const fields = text.slice(start.index + start[0].length, end);
  const parameters = [...fields.matchAll(/([a-z_]+)=(?:"([^"]*)"|([^\s,"]+))/gi)];
  return {
    scheme: start[1]?.toLowerCase() === "bearer" ? "bearer" : "basic",
    parameters: Object.fromEntries(
      parameters.map(([, name = "", quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? ""]),
    ),
  };
}
