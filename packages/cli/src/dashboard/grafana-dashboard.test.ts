import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { dashboard } from "../commands/dashboard.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

interface Dashboard {
  readonly title: string;
  readonly panels: readonly {
    readonly id: number;
    readonly title: string;
    readonly gridPos: { readonly x: number; readonly w: number };
    readonly targets?: readonly { readonly expr: string }[];
  }[];
}

async function printed(): Promise<Dashboard> {
  let text = "";
  const output = { out: (part: string) => void (text += part), err: () => {} };
  expect(await dashboard.run([`${root}examples/candy/candy.ts`], output)).toBe(0);
  return JSON.parse(text) as Dashboard;
}

/** The names that the sources register. */
function registered(): ReadonlySet<string> {
  const files = globSync("packages/{runtime,client,setpoint,host}/src/**/*.ts", { cwd: root });
  const names = files
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) =>
      [...readFileSync(root + file, "utf8").matchAll(/"([a-z]+_[a-z_]+)"/g)].map(([, name]) => name ?? ""),
    );
  return new Set(names);
}

test("every query of the dashboard asks for a metric that operators have", async () => {
  const { title, panels } = await printed();
  expect(title).toBe("candy operator");
  const metrics = panels
    .flatMap(({ targets = [] }) => targets)
    .flatMap(({ expr }) => [...expr.matchAll(/([a-z]+_[a-z_]+)\{/g)].map(([, name]) => name ?? ""));
  expect(metrics.length).toBeGreaterThan(20);
  const known = registered();
  expect(metrics.filter((name) => !known.has(name.replace(/_bucket$/, "")))).toEqual([]);
});

test("panels have ids of their own and fit the grid", async () => {
  const { panels } = await printed();
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true);
});
