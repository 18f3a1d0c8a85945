/** What PostgreSQL complains about in a configuration, by the fields of the spec; pure. */

interface Complaint {
  readonly text: string;
  readonly more: readonly string[];
}

/** Says only that there are others. */
const summary = /contains errors$/;
const ignored = /skipping missing configuration file/;

/** Of the output of a server that did not start; each with its field. */
export function trialErrors(output: string, parameters: Readonly<Record<string, string>>): readonly string[] {
  const all = complaintsIn(output).filter(({ text }) => !ignored.test(text));
  const own = all.filter(({ text }) => !summary.test(text));
  const errors = (own.length > 0 ? own : all).map((each) => errorText(each, parameters));
  return errors.length > 0 ? errors : ["spec.parameters: PostgreSQL would not start, and does not say why"];
}

function complaintsIn(output: string): readonly Complaint[] {
  const complaints: Complaint[] = [];
  for (const line of output.split("\n")) {
    const [, severity, text = ""] = /^(LOG|ERROR|FATAL|PANIC|DETAIL|HINT|postgres):\s+(.*)$/.exec(line) ?? [];
    const last = complaints.at(-1);
    if (severity === "DETAIL" || severity === "HINT") {
      if (last !== undefined) complaints[complaints.length - 1] = { ...last, more: [...last.more, text] };
    } else if (severity !== undefined) complaints.push({ text, more: [] });
  }
  return complaints;
}

function errorText({ text, more }: Complaint, parameters: Readonly<Record<string, string>>): string {
  const name = nameIn(text, Object.keys(parameters));
  const field = name === undefined ? "spec.parameters" : `spec.parameters[${name}]`;
  const what = text.replace(/ in file ".*" line \d+$/, "");
  return [`${field}: ${what}`, ...more.map((each) => each.replace(/\.$/, ""))].join("; ");
}

/** The setting in quotes, or the first that the text mentions; of a file, the one that names libraries. */
function nameIn(text: string, names: readonly string[]): string | undefined {
  const quoted = /parameter "([^"]+)"/.exec(text)?.[1];
  // PostgreSQL writes some names with capital letters.
  if (quoted !== undefined) return names.find((name) => name === quoted.toLowerCase()) ?? quoted;
  const words = new Set(text.match(/[a-z_][a-z0-9_.]*/g));
  const mentioned = names.find((name) => words.has(name));
  return mentioned ?? names.find((name) => name === "shared_preload_libraries" && /file|library/.test(text));
}
