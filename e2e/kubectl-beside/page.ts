/** docs/kubectl.md: how many commands are compared, and what differs, with its reason. */
import { readFileSync } from "node:fs";
import type { KnownDifference } from "./differences.ts";
import { comparedSteps, type Story } from "./story.ts";

const file = new URL("../../docs/kubectl.md", import.meta.url);

export function readPage(): string {
  return readFileSync(file, "utf8");
}

export const pagePath: string = file.pathname;

export function pageOf(stories: readonly Story[], known: readonly KnownDifference[]): string {
  const count = stories.reduce((sum, story) => sum + comparedSteps(story).length, 0);
  const rows = stories.map((story) => [`\`${story.name}\``, String(comparedSteps(story).length), story.about]);
  return [
    "# kubectl on `setpoint up`",
    "",
    `For users and maintainers: ${count} commands of kubectl were typed at a genuine one-node Kubernetes 1.36 (kubelet, containerd),`,
    "and a test types them at `setpoint up` and compares what they print, line by line. Times, addresses, generated names and",
    "identifiers are left out. `e2e/kubectl-beside/stories` holds the commands and what the genuine cluster prints.",
    "",
    ...table(["story", "commands", "about"], rows),
    "",
    "## Differences on purpose",
    "",
    ...differences(known.filter(({ isOpen }) => isOpen !== true)),
    "",
    "## Not yet as upstream",
    "",
    ...differences(known.filter(({ isOpen }) => isOpen === true)),
    "",
  ].join("\n");
}

function differences(known: readonly KnownDifference[]): readonly string[] {
  const rows = known.map(({ commands, reason }) => [
    commands.map((each) => `\`${each.replace(/^kubectl /, "")}\``).join(", "),
    reason,
  ]);
  return table(["kubectl …", "what differs, and why"], rows);
}

/** As the formatter writes tables. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((each, i) => each.padEnd(widths[i] ?? 0)).join(" | ")} |`;
  return [line(head), line(widths.map((width) => "-".repeat(width))), ...rows.map(line)];
}
