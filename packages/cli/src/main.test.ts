import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { candy } from "./own-folder.fixture.ts";
import { setpoint } from "./setpoint.fixture.ts";

const commands = [
  "up",
  "store",
  "run",
  "dev",
  "plan",
  "record",
  "replay",
  "manifests",
  "uninstall",
  "create",
  "upgrade",
  "generate",
  "version",
];

test("version says what a report of a fault needs", async () => {
  const expected = /^setpoint \d+\.\d+\.\d+, Node\.js \d+\.\d+\.\d+, \w+ \w+\n$/;
  expect((await setpoint("version")).out).toMatch(expected);
  expect((await setpoint("--version")).out).toMatch(expected);
});

test("help names the commands for people, and explains one", async () => {
  const { code, out } = await setpoint("help");
  expect(code).toBe(0);
  for (const name of commands) expect(out).toContain(`  setpoint ${name}`);
  expect(out).not.toContain("setpoint node");
  const one = await setpoint("help", "create");
  expect(one.out).toMatch(/^Usage: setpoint create operator NAME \[--directory DIR\]\n\nCreate a project /);
  expect(await setpoint("create", "--help")).toEqual(one);
});

test("a command or a flag that does not exist is one sentence, the usage and exit code 2", async () => {
  expect((await setpoint("fly")).err).toMatch(/^Cannot run "setpoint fly": no such command\.\nUsage:\n/);
  expect((await setpoint("manifest")).err).toBe(
    'Cannot run "setpoint manifest": no such command; did you mean "setpoint manifests"? "setpoint help" lists all commands.\n',
  );
  expect((await setpoint("up", "--node", "2")).err).toMatch(
    /^Cannot .*: Unknown option '--node'; did you mean --nodes\?\nUsage: /,
  );
  expect((await setpoint("help", "fly")).code).toBe(2);
  expect((await setpoint()).code).toBe(2);
  for (const command of commands) {
    const { code, err } = await setpoint(command, "--fly");
    expect(code).toBe(2);
    expect(err).toMatch(new RegExp(`^Cannot .*: Unknown option '--fly'\nUsage: setpoint ${command}.*\n$`));
  }
});

test.each([
  [["run", "a.ts", "--log-level", "loud"], "Cannot use --log-level loud: expected one of debug, info, warn, error"],
  [["run", "a.ts", "--lease-duration", "1"], "Cannot use --lease-duration 1: expected 5 to 3600 seconds"],
  [
    ["run", candy, "--namespace", "Team_A"],
    `Cannot use --namespace "Team_A": expected lower case letters, digits and '-', as in "team-a"`,
  ],
  [
    ["manifests", candy, "--watch", "a.b"],
    `Cannot use --watch "a.b": expected lower case letters, digits and '-', as in "team-a"`,
  ],
  [["generate", "types"], "Cannot generate types: expected a file, a URL or cluster/NAME"],
  [["plan"], "Cannot plan an operator: the file that exports it is missing"],
  [
    ["run", "package.json"],
    'Cannot run "package.json": expected a module (.ts, .js, .mts, .mjs) that exports an operator, or a YAML file that declares one',
  ],
  [["plan", "none.ts"], 'Cannot plan "none.ts": no such file'],
  [["plan", "none.ts", "--timeout", "soon"], "Cannot use --timeout soon: expected a whole number from 0 to 3600"],
  [["record"], "Cannot record an operator: the file that exports it is missing"],
  [["record", "none.ts", "-o", "x"], 'Cannot record "none.ts": no such file'],
  [["replay"], "Cannot replay: the recording is missing"],
  [["replay", "none.jsonl"], "Cannot replay an operator: the file that exports it is missing"],
  [["dev"], "Cannot develop an operator: the file that exports it is missing"],
  [["dev", "none.ts"], 'Cannot develop "none.ts": no such file'],
  [["uninstall"], "Cannot uninstall an operator: the file that exports it is missing"],
])("setpoint %j ends with one sentence, the usage and exit code 2", async (args, sentence) => {
  const { code, err } = await setpoint(...args);
  expect(err.split("\n")[0]).toBe(sentence);
  expect(err).toContain(`\nUsage: setpoint ${args[0]} `);
  expect(code).toBe(2);
});

const pages = {
  commands: ["store", "run", "plan", "record", "replay", "dev", "uninstall"],
  projects: ["create", "upgrade"],
  shipping: ["manifests"],
  "types-from-crds": ["generate"],
};

test.each(Object.entries(pages))("docs/%s.md has the usage of the commands that it explains", async (page, names) => {
  const text = readFileSync(new URL(`../../../docs/${page}.md`, import.meta.url), "utf8");
  for (const command of names) {
    const { out } = await setpoint("help", command);
    expect(text).toContain(`\n    ${out.split("\n")[0]?.replace("Usage: ", "")}\n`);
  }
});
