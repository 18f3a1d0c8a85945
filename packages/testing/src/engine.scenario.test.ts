/** An operator whose children come from a program, in the simulated world: the program is a function. */
import { ConfigMap, Deployment, Secret } from "@setpoint/api";
import { conditions, defineKind, defineOperator, minutes, seconds } from "setpoint";
import { engineController, type EngineControllerOptions, type ProgramCall, type ProgramEnd } from "setpoint/hook";
import { expect, test } from "vitest";
import { z } from "zod";
import { conditionOf, simulate, type World } from "./index.ts";

const Site = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Site",
  spec: z.object({ pages: z.array(z.string()).default([]), replicas: z.int().default(0) }),
  status: z.object({ visitors: z.int().optional(), conditions: conditions().optional() }),
});
type Site = ReturnType<typeof Site>;

const home = (...pages: readonly string[]): Site => Site({ name: "home", spec: { pages: [...pages], replicas: 0 } });

/** What a chart would be: a page a ConfigMap, in YAML. */
function chart({ input, command }: ProgramCall): ProgramEnd {
  const { pages } = JSON.parse(input) as Site["spec"];
  const documents = pages.map(
    (page) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${command[1] ?? ""}-${page}\ndata: {title: ${page}}\n`,
  );
  return { code: 0, stdout: documents.join("---\n"), stderr: "" };
}

interface Stage extends AsyncDisposable {
  readonly world: World;
  /** What was asked of the program. */
  readonly calls: readonly ProgramCall[];
  /** Stands for the chart's files. */
  files: string;
  program: (call: ProgramCall) => ProgramEnd;
}

async function setUp(options: Partial<EngineControllerOptions> = {}): Promise<Stage> {
  const calls: ProgramCall[] = [];
  const stage = {
    calls,
    files: "1",
    program: chart,
  };
  const sites = engineController({
    kind: Site,
    children: [ConfigMap, Deployment],
    run: { command: ["render", "{{metadata.name}}"], files: ["./chart"] },
    programs: {
      run: async (call) => {
        calls.push(call);
        return stage.program(call);
      },
      fingerprint: async () => stage.files,
    },
    ...options,
  });
  const world = await simulate({ seed: 1, operators: [defineOperator({ name: "sites", controllers: [sites] })] });
  return Object.assign(stage, { world, [Symbol.asyncDispose]: () => world[Symbol.asyncDispose]() });
}

async function pages({ world }: Stage): Promise<readonly string[]> {
  const names = (await world.list(ConfigMap)).map(({ metadata }) => metadata.name);
  return names.filter((name) => name.startsWith("home-")).sort();
}

async function said(
  { world }: Stage,
  type: string,
): Promise<readonly [string | undefined, string | undefined, string | undefined]> {
  const found = conditionOf(await world.get(Site, "home"), type);
  return [found?.status, found?.reason, found?.message];
}

test("what the program wants is made, changed, pruned, and goes with its object", async () => {
  await using stage = await setUp();
  const { world } = stage;
  await world.apply(home("news", "about"));
  await world.settled();
  expect(await pages(stage)).toEqual(["home-about", "home-news"]);
  expect(await said(stage, "Ready")).toEqual(["True", "DesiredStateReached", "Desired state reached"]);
  expect(await said(stage, "Rendered")).toEqual(["True", "Rendered", "The program wants 2 objects"]);

  await world.patch(Site, "home", { spec: { pages: ["news", "shop"] } });
  await world.settled();
  expect(await pages(stage)).toEqual(["home-news", "home-shop"]);

  await world.delete(Site, "home");
  await world.settled();
  expect(await pages(stage)).toEqual([]);
  await world.expectQuiet();
});

test("the program is run once for a spec, whatever becomes of the children; and again when its files change", async () => {
  await using stage = await setUp();
  const { world, calls } = stage;
  await world.apply(home("news"));
  await world.settled();
  await world.delete(ConfigMap, "home-news");
  await world.settled();
  expect(await pages(stage)).toEqual(["home-news"]);
  expect(calls.length).toBe(1);

  stage.files = "2";
  await world.delete(ConfigMap, "home-news");
  await world.settled();
  expect(calls.length).toBe(2);
  await world.expectQuiet();
  expect(calls.length).toBe(2);
});

test("a program that fails deletes nothing, says why, and is tried again ever more slowly until it does", async () => {
  await using stage = await setUp();
  const { world, calls } = stage;
  await world.apply(home("news"));
  await world.settled();
  stage.program = () => ({ code: 1, stdout: "", stderr: "Error: chart\n\n  requires kubeVersion >=2\n" });
  await world.patch(Site, "home", { spec: { pages: [] } });
  await world.run(minutes(10));
  expect(await pages(stage)).toEqual(["home-news"]);
  const why = 'Cannot run "render home": it ended with code 1: Error: chart; requires kubeVersion >=2';
  expect(await said(stage, "Rendered")).toEqual(["False", "ProgramFailed", why]);
  expect(await said(stage, "Ready")).toEqual(["False", "ProgramFailed", why]);
  // 2, 4, 8 … 256, 300 seconds apart.
  expect(calls.length).toBeGreaterThan(6);
  expect(calls.length).toBeLessThan(14);

  stage.program = chart;
  await world.run(minutes(6));
  expect(await pages(stage)).toEqual([]);
  expect(await said(stage, "Ready")).toEqual(["True", "DesiredStateReached", "Desired state reached"]);
  await world.expectQuiet();
});

test("a failure is not repeated by events; a new spec is tried at once", async () => {
  await using stage = await setUp();
  const { world, calls } = stage;
  await world.apply(home("news"));
  await world.settled();
  stage.program = () => ({ code: 3, stdout: "", stderr: "" });
  await world.patch(Site, "home", { spec: { pages: ["a"] } });
  await world.run(seconds(40));
  const before = calls.length;
  for (let i = 0; i < 5; i++) {
    await world.patch(ConfigMap, "home-news", { data: { touched: String(i) } });
    await world.run(seconds(1));
  }
  expect(calls.length).toBe(before);
  stage.program = chart;
  await world.patch(Site, "home", { spec: { pages: ["b"] } });
  await world.run(seconds(1));
  expect(await pages(stage)).toEqual(["home-b"]);
});

const wrong: readonly (readonly [string, string, string, string])[] = [
  ["no YAML", "a: [1", "OutputInvalid", "it is no YAML or JSON: "],
  [
    "an object without a name",
    "apiVersion: v1\nkind: ConfigMap\nmetadata: {}",
    "OutputInvalid",
    "has no metadata.name",
  ],
  [
    "a kind that is not declared",
    "apiVersion: v1\nkind: Secret\nmetadata: {name: s}",
    "OutputInvalid",
    "it wants a Secret of v1, which is not among the kinds of children",
  ],
];

test.each(wrong)("an output that is %s is refused, in a condition", async (_, stdout, reason, text) => {
  await using stage = await setUp();
  stage.program = () => ({ code: 0, stdout, stderr: "" });
  await stage.world.apply(home("news"));
  await stage.world.run(seconds(5));
  expect(await said(stage, "Ready")).toEqual(["False", reason, expect.stringContaining(text)]);
  expect(await stage.world.list(Secret)).toEqual([]);
});

test("a command that wants a field that is not there says which", async () => {
  await using stage = await setUp({ run: { command: ["render", "{{spec.version}}"] } });
  await stage.world.apply(home("news"));
  await stage.world.run(seconds(5));
  expect(await said(stage, "Ready")).toEqual([
    "False",
    "InputInvalid",
    'Cannot fill the argument "{{spec.version}}" of the command: the object has no such field',
  ]);
  expect((await said(stage, "Stalled")).slice(0, 2)).toEqual(["True", "InputInvalid"]);
  expect(stage.calls).toEqual([]);
  await stage.world.expectQuiet();
});

test.each([
  ["in another namespace", "{ name: home-x, namespace: kube-system }", 'ConfigMap "home-x"'],
  ["that another owner has", "{ name: taken }", 'ConfigMap "taken"'],
])("a child %s is refused in a condition, and those beside it are made", async (_, metadata, what) => {
  await using stage = await setUp();
  const { world } = stage;
  await world.apply(ConfigMap({ name: "taken", data: { by: "hand" } }));
  const object = (meta: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: ${meta}\ndata: { by: chart }\n`;
  stage.program = () => ({ code: 0, stdout: `${object("{ name: home-a }")}---\n${object(metadata)}`, stderr: "" });
  await world.apply(home());
  await world.run(seconds(5));
  expect(await said(stage, "ChildrenReady")).toEqual(["False", "Refused", expect.stringContaining(what)]);
  expect((await world.get(ConfigMap, "taken")).data).toEqual({ by: "hand" });
  expect(await pages(stage)).toEqual(["home-a"]);
});

test("an object is ready when its children are, and says which are not", async () => {
  await using stage = await setUp();
  const { world } = stage;
  const deployment = { name: "home", namespace: "default" };
  stage.program = () => ({
    code: 0,
    stdout: JSON.stringify([
      Deployment({
        ...deployment,
        spec: {
          replicas: 2,
          selector: { matchLabels: { app: "home" } },
          template: { metadata: { labels: { app: "home" } }, spec: { containers: [{ name: "web", image: "web" }] } },
        },
      }),
    ]),
    stderr: "",
  });
  await world.apply(home());
  await world.until("it waits", async () => (await said(stage, "ChildrenReady"))[1] === "Waiting");
  expect((await said(stage, "Ready"))[2]).toMatch(/^Deployment "home": \d of 2 replicas are up to date and ready$/);
  await world.settled();
  expect(await said(stage, "ChildrenReady")).toEqual(["True", "AllReady", "All 1 are ready"]);
  await world.expectQuiet();
});

test("a program may answer Metacontroller's request, with a status and a time to be asked again", async () => {
  await using stage = await setUp({ run: { command: ["sync"], input: "request", output: "response" } });
  const { world, calls } = stage;
  let visitors = 0;
  stage.program = ({ input }) => {
    const { parent } = JSON.parse(input) as { readonly parent: Site };
    expect(parent.metadata.name).toBe("home");
    const answer = { status: { visitors: Math.min(++visitors, 3) }, children: [], resyncAfterSeconds: 30 };
    return { code: 0, stdout: JSON.stringify(answer), stderr: "" };
  };
  await world.apply(home());
  await world.run(minutes(3));
  expect((await world.get(Site, "home")).status?.visitors).toBe(3);
  expect(calls.length).toBeGreaterThanOrEqual(5);
  expect(calls.length).toBeLessThanOrEqual(9);
});
