import { readFileSync } from "node:fs";
import { builtinResources } from "@setpoint/apiserver";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { builtInControllers } from "../built-in-controllers.ts";
import { loadAuthority } from "../pki.ts";
import { adviceFor, kindActors, kindKey } from "./kind-actors.ts";

const page = readFileSync(new URL("../../../../docs/cluster.md", import.meta.url), "utf8");
const host = systemHost({ write: () => {} });
const actors = kindActors(builtInControllers(loadAuthority({ clock: host.clock, random: host.random })));

/** The cells of the table below a heading. */
function rowsBelow(heading: string): readonly string[] {
  const [, section = ""] = page.split(`\n## ${heading}\n`);
  const [table = ""] = section.split("\n## ");
  const rows = table.split("\n").filter((line) => line.startsWith("|"));
  const cells = rows.slice(2).map((row) => row.split("|").map((cell) => cell.trim()));
  return cells.map((row) => row.slice(1, -1).join(" | "));
}

const kinds = [...new Map(builtinResources().map((each) => [kindKey(each.group, each.kind), each])).entries()].map(
  ([key, { group, kind }]) => ({ key, row: `${kind} | ${group === "" ? "core" : group}` }),
);

test("the page lists the kinds on which something acts, as the registry does", () => {
  const expected = kinds.flatMap(({ key, row }) => {
    const names = actors.get(key);
    return names === undefined ? [] : [`${row} | ${names.join(", ")}`];
  });
  expect(rowsBelow("What acts on objects")).toEqual(expected.toSorted());
});

test("the page lists the kinds that are only stored, with the advice of their notices", () => {
  const stored = kinds.filter(({ key }) => !actors.has(key));
  expect(rowsBelow("What is only stored")).toEqual(
    stored.map(({ key, row }) => `${row} | ${adviceFor(key)}`).toSorted(),
  );
});

test("the registry names built-in kinds only", () => {
  expect([...actors.keys()].filter((key) => !kinds.some((each) => each.key === key))).toEqual([]);
});
