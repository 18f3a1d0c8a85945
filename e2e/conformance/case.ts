/** A case of the suite, as it names it: `[sig-apps] Job should delete a job [Conformance]`. */

export interface CaseResult {
  readonly name: string;
  readonly outcome: "passed" | "failed" | "not run";
  /** Why it failed, in one line. */
  readonly reason: string;
  readonly seconds: number;
}

/** `sig-apps`, for the table of results. */
export function groupOf(name: string): string {
  return /\[(sig-[a-z-]+)\]/.exec(name)?.[1] ?? "other";
}

/** What changes the whole cluster runs alone, after all others. */
export function runsAlone(name: string): boolean {
  return /\[(Serial|Disruptive)\]/.test(name);
}

/** The cases of a report that the suite wrote as JUnit XML; those that it left out are not among them. */
export function readReport(xml: string): readonly CaseResult[] {
  return [...xml.matchAll(/<testcase ([^>]*?)(\/>|>([^]*?)<\/testcase>)/g)]
    .map(([, attributes = "", , content = ""]) => readCase(attributes, content))
    .filter((each): each is CaseResult => each !== undefined);
}

function readCase(attributes: string, content: string): CaseResult | undefined {
  const attribute = (key: string): string => unescape(new RegExp(`\\b${key}="([^"]*)"`).exec(attributes)?.[1] ?? "");
  const name = attribute("name");
  if (!name.startsWith("[It] ")) return undefined;
  const status = attribute("status");
  if (status === "skipped" || status === "pending") return undefined;
  return {
    // The report adds the labels of the case to its name.
    name: name.slice("[It] ".length).replace(/ \[[^[\]]*\]$/, (end) => (end.includes(", ") ? "" : end)),
    outcome: status === "passed" ? "passed" : "failed",
    reason: status === "passed" ? "" : reasonOf(status, content),
    seconds: Number(attribute("time")),
  };
}

function reasonOf(status: string, content: string): string {
  const message = unescape(/<failure message="([^"]*)"/.exec(content)?.[1] ?? "");
  const line = message.replaceAll(/\s+/g, " ").trim().slice(0, 240);
  return line === "" ? status : line;
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', amp: "&", apos: "'" };

function unescape(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi, (whole, decimal, hex, name) => {
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(String(hex), 16));
    return entities[String(name)] ?? whole;
  });
}
