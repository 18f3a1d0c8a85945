import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly scripts: Readonly<Record<string, string>>;
};
/** `npm start` and `npm test` install the packages themselves; `ok` is the gate that `npm test` starts. */
const others = ["start", "test", "ok"];

test("each npm script works in a fresh clone: it begins with the installation of the packages", () => {
  const bare = Object.entries(scripts).filter(([name]) => !others.includes(name));
  const without = bare.filter(([, command]) => !/^([A-Z_]+=\S+ )*node tools\/bootstrap\/run\.mjs /.test(command));
  expect(without).toEqual([]);
});
