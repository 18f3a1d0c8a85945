/** STYLE 11: words and names that may not come back, and what to write instead. */

interface Replacement {
  readonly pattern: RegExp;
  readonly instead: string;
}

const replacements: readonly Replacement[] = [
  { pattern: /\banew\b/gi, instead: 'again, or a verb with "re": relist, recreate' },
  { pattern: /\b(whoever|somebody)\b/gi, instead: "the actor: the client, another controller" },
  { pattern: /\bmend(s|ed|ing)?\b/gi, instead: "fix, repair" },
  { pattern: /\b(is|are|was|were|be|been) told\b|\btold so\b/gi, instead: "reports, logs, returns" },
  { pattern: /\b(is|are|was|were) said\b/gi, instead: "reports, states" },
  { pattern: /\blets? go\b/gi, instead: "release" },
  { pattern: /\b(one|those) who\b/gi, instead: "the actor: the client, another controller" },
  { pattern: /\bworked out\b/gi, instead: "computed, derived" },
  { pattern: /\blook(s|ed)? at again\b/gi, instead: "retried, read again" },
  {
    pattern:
      /\b(Departures|EchoWatch|KeyWaker|DueKeys|Underway|ToldProblem|WatchPatience|Tenure|Senses|Passage|Striker|matterOf)\b/g,
    instead: "the name that client-go, controller-runtime or the papers use",
  },
];

/** Uses that are left from before the list, by folder. A folder's number only goes down. */
const remaining: Readonly<Record<string, number>> = {
  "packages/testing": 5,
};

/**
 * The files that the list is about: sources and pages, but not the list itself and what other servers said.
 */
const isChecked = (path: string): boolean =>
  /\.(ts|md|mjs)$/.test(path) && !path.startsWith("packages/api/") && !path.startsWith("tools/tidy/");

/** One line for each word of a folder that has more of them than were left. */
export function plainWordProblems(
  files: readonly { readonly path: string; readonly text: string }[],
): readonly string[] {
  const byFolder = Map.groupBy(files.filter(({ path }) => isChecked(path)).flatMap(usesIn), ({ folder }) => folder);
  return [...byFolder].flatMap(([folder, uses]) =>
    uses.length > (remaining[folder] ?? 0) ? uses.map(({ problem }) => problem) : [],
  );
}

function usesIn({
  path,
  text,
}: {
  readonly path: string;
  readonly text: string;
}): readonly { folder: string; problem: string }[] {
  const folder = path
    .split("/")
    .slice(0, /^(packages|operators)\//.test(path) ? 2 : 1)
    .join("/");
  return replacements.flatMap(({ pattern, instead }) =>
    [...text.matchAll(pattern)].map(({ 0: found, index }) => {
      const line = text.slice(0, index).split("\n").length;
      return { folder, problem: `${path}:${line}: "${found}"; write ${instead}` };
    }),
  );
}
