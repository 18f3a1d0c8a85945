/**
 * `npm run e2e:everywhere`: one operator file, unchanged, in four places, with the same assertions. Places
 * that cannot be had are skipped with the reason. Names of places as arguments choose among them.
 */
import { places, type Place } from "./places.ts";
import type { Claim } from "./story.ts";

type Told = { readonly place: Place; readonly seconds: string } & (
  | { readonly claims: readonly Claim[] }
  | { readonly skipped: string }
  | { readonly failed: string }
);

async function tell(place: Place): Promise<Told> {
  const startedMs = performance.now();
  const seconds = (): string => ((performance.now() - startedMs) / 1_000).toFixed(1);
  try {
    const told = await place.tell();
    if (typeof told === "string") return { place, seconds: seconds(), skipped: told };
    return { place, seconds: seconds(), claims: told };
  } catch (error) {
    return { place, seconds: seconds(), failed: error instanceof Error ? error.message : String(error) };
  }
}

function table(told: readonly Told[]): string {
  const claims = told.flatMap((each) => ("claims" in each ? each.claims : []));
  const rows = [...new Set(claims.map(({ claim }) => claim))];
  const width = Math.max(...rows.map((row) => row.length), 10);
  const column = (text: string): string => text.padStart(25);
  const cell = (each: Told, row: string): string => {
    if ("skipped" in each) return column("skipped");
    if ("failed" in each) return column("failed");
    const ms = each.claims.find(({ claim }) => claim === row)?.ms;
    return column(ms === undefined ? "–" : `${ms} ms`);
  };
  const lines = [
    `${"".padEnd(width)}${told.map(({ place }) => column(place.name)).join("")}`,
    ...rows.map((row) => `${row.padEnd(width)}${told.map((each) => cell(each, row)).join("")}`),
    `${"in all, with its start".padEnd(width)}${told.map(({ seconds }) => column(`${seconds} s`)).join("")}`,
  ];
  return lines.join("\n");
}

const wanted = process.argv.slice(2);
const chosen = places.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const told: Told[] = [];
for (const place of chosen) {
  const result = await tell(place);
  if ("skipped" in result) console.log(`skipped: ${place.name}: ${result.skipped}`);
  if ("failed" in result) console.log(`failed: ${place.name}: ${result.failed}`);
  told.push(result);
}
console.log("examples/candy/candy.ts, the same file and the same assertions everywhere:\n");
console.log(table(told));
const failed = told.filter((each) => "failed" in each).length;
const held = told.filter((each) => "claims" in each).length;
console.log(`\n${held} held, ${told.length - held - failed} skipped, ${failed} failed`);
process.exitCode = failed > 0 || told.length === 0 ? 1 : 0;
