/**
 * 24 2.3: the ten most likely mistakes of an author are compile errors that name the mistake in at most three
 * lines.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempDisposableSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = new URL("../../../", import.meta.url).pathname;

const head = `
import { ConfigMap } from "setpoint/kinds";
import { act, controller, defineKind, keyOf, watching } from "setpoint";
import { z } from "zod";
const Candy = defineKind({
  group: "examples.setpoint.dev", version: "v1", kind: "Candy",
  spec: z.object({ flavor: z.string(), size: z.int().default(1) }),
  status: z.object({ wrapped: z.boolean() }),
});
const names = { group: "example.com", version: "v1", kind: "Box" } as const;
`;

interface Mistake {
  readonly name: string;
  /** On one line. */
  readonly code: string;
  /** What the first line must name. */
  readonly names: string;
}

const mistakes: readonly Mistake[] = [
  {
    name: "a misspelt field of the spec",
    code: `controller(Candy, { async reconcile(candy) { console.log(candy.spec.flavour); } });`,
    names: "Did you mean 'flavor'",
  },
  {
    name: "a misspelt field of the status",
    code: `controller(Candy, { async reconcile(_c, { status }) { await status({ wraped: true }); } });`,
    names: "Did you mean to write 'wrapped'",
  },
  {
    name: "a value of another type in a child",
    code: `controller(Candy, { async reconcile(_c, { apply }) { await apply(ConfigMap({ name: "a", data: { a: 1 } })); } });`,
    names: "'number' is not assignable to type 'string'",
  },
  {
    name: "a child without its apiVersion",
    code: `controller(Candy, { async reconcile(_c, { apply }) { await apply({ kind: "ConfigMap", metadata: {} }); } });`,
    names: "'apiVersion' is missing",
  },
  {
    name: "a misspelt option",
    code: `controller(Candy, { own: [ConfigMap], async reconcile() {} });`,
    names: "Did you mean to write 'owns'",
  },
  {
    name: "a reconcile that returns something else",
    code: `controller(Candy, { async reconcile() { return 5; } });`,
    names: "Promise<number>",
  },
  {
    name: "a reconcile that is not async",
    code: `controller(Candy, { reconcile() {} });`,
    names: "() => void",
  },
  {
    name: "a requeue without its reason",
    code: `controller(Candy, { async reconcile(_c, { requeueAfter }) { return requeueAfter(5); } });`,
    names: "Expected 2 arguments",
  },
  {
    name: "a step that no action performs",
    code: `controller(Candy, { observe: () => 1, plan: () => act("grow", {}, "small"), actions: { shrink: async () => {} } });`,
    names: `"grow"`,
  },
  {
    name: "a printer column of a misspelt path",
    code: `defineKind({ ...names, spec: z.object({ size: z.int() }), printerColumns: { Size: "spec.sise" } });`,
    names: `Did you mean '"spec.size"'`,
  },
  {
    name: "an object without a required field",
    code: `Candy({ name: "a", spec: {} });`,
    names: "'flavor' is missing",
  },
  {
    name: "a list of the cache that names neither a namespace nor all",
    code: `controller(Candy, { watches: [watching(ConfigMap, (_m, cache) => cache.list(Candy).map(keyOf))], async reconcile() {} });`,
    names: "Expected 2 arguments",
  },
  {
    name: "an object of the cache that is changed",
    code: `controller(Candy, { async reconcile(candy) { candy.spec.size = 3; } });`,
    names: "read-only",
  },
];

const firstLine = head.split("\n").length;

/** The lines of the compiler's message about each mistake. */
function compile(): readonly (readonly string[])[] {
  const cache = join(root, "node_modules", ".cache");
  mkdirSync(cache, { recursive: true });
  using folder = mkdtempDisposableSync(join(cache, "mistakes-"));
  writeFileSync(join(folder.path, "mistakes.ts"), [head, ...mistakes.map(({ code }) => code)].join("\n"));
  const compilerOptions = { noEmit: true, composite: false, incremental: false, isolatedDeclarations: false };
  const config = { extends: join(root, "tsconfig.check.json"), include: ["mistakes.ts"], compilerOptions };
  writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify(config));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const { stdout } = spawnSync(tsc, ["--pretty", "false", "-p", folder.path], { encoding: "utf8", cwd: folder.path });
  const messages = mistakes.map((): string[] => []);
  let at: string[] | undefined;
  for (const line of stdout.split("\n")) {
    const place = /^mistakes\.ts\((\d+),/.exec(line)?.[1];
    if (place !== undefined) at = messages[Number(place) - firstLine - 1];
    if (line !== "") at?.push(line);
  }
  return messages;
}

test(
  "24 2.3: each of the ten most likely mistakes is a compile error of at most three lines",
  { timeout: 120_000 },
  () => {
    const messages = compile();
    const seen = mistakes.map(({ name, names }, i) => {
      const message = messages[i] ?? [];
      const isNamed = message[0]?.includes(names) ?? false;
      return `${name}: ${isNamed && message.length <= 3 ? "short" : `expected ${names}, got ${message.join("\n")}`}`;
    });
    expect(seen).toEqual(mistakes.map(({ name }) => `${name}: short`));
  },
);
