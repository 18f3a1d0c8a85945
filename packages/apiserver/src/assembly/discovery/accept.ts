/** Reads an `Accept` header: its clauses in the order of preference. */

export interface AcceptClause {
  /** Lower case: `application/json`, `*` + `/*`. */
  readonly mediaType: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The clauses by falling `q`, equal ones in their order; an absent header accepts everything. */
export function parseAccept(header: string | undefined): readonly AcceptClause[] {
  if (header === undefined || header.trim() === "") return [{ mediaType: "*/*", parameters: {} }];
  const clauses = header.split(",").map(parseClause);
  const rank = (clause: AcceptClause): number => Number(clause.parameters["q"] ?? "1");
  return clauses.filter((each) => rank(each) > 0).toSorted((a, b) => rank(b) - rank(a));
}

function parseClause(text: string): AcceptClause {
  const [mediaType = "", ...rest] = text.split(";").map((each) => each.trim());
  const pairs = rest.map((each): [string, string] => {
    const equals = each.indexOf("=");
    return equals === -1 ? [each, ""] : [each.slice(0, equals).trim(), each.slice(equals + 1).trim()];
  });
  return { mediaType: mediaType.toLowerCase(), parameters: Object.fromEntries(pairs) };
}

/** Whether the clause allows an answer of this type, wildcards included. */
export function acceptsType(clause: AcceptClause, type: string): boolean {
  if (clause.mediaType === "*/*" || clause.mediaType === type) return true;
  return clause.mediaType.endsWith("/*") && type.startsWith(clause.mediaType.slice(0, -1));
}
