import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { setpoint } from "../setpoint.fixture.ts";
import { lineDiff } from "./line-diff.ts";
import { mergeJson } from "./merge-json.ts";
import { planUpgrade, type FileChange } from "./plan-upgrade.ts";

const folder = ownFolder("upgrade");

describe("a project that an older setpoint has made", () => {
  let project = "";
  let count = 0;
  const path = (name: string): string => join(project, name);
  const read = (name: string): string => readFileSync(path(name), "utf8");

  /** Makes a file as if the older scaffold had had another text. */
  function older(name: string, from: string, to: string): void {
    const text = read(name);
    expect(text).toContain(from);
    const record = JSON.parse(read(".scaffold.json")) as { version: string; files: Record<string, string> };
    record.version = "0.0.9";
    record.files[name] = text.replace(from, to);
    writeFileSync(path(".scaffold.json"), JSON.stringify(record));
    writeFileSync(path(name), record.files[name]);
  }

  const edit = (name: string, from: string, to: string): void => {
    expect(read(name)).toContain(from);
    writeFileSync(path(name), read(name).replace(from, to));
  };

  beforeEach(async () => {
    project = join(folder, `p${++count}`);
    await setpoint("create", "operator", "ice-cream", "--directory", project);
  });

  test("that has the newest scaffold has nothing to do", async () => {
    const { code, out } = await setpoint("upgrade", "--directory", project);
    expect([code, out]).toEqual([0, 'Nothing to do: the operator "ice-cream" has the scaffold of setpoint 0.1.0\n']);
  });

  test("gets what is new; edits stay; both come together where they can", async () => {
    older("Dockerfile", "USER 65532:65532\n", "");
    older("package.json", '    "types": "tsc",\n', "");
    older("tsconfig.json", '    "strict": true,\n', "");
    edit("package.json", '    "zod"', '    "pg": "^8.0.0",\n    "zod"');
    edit("src/index.ts", '.default("hello")', '.default("moin")');
    const { code, out } = await setpoint("upgrade", "--directory", project);
    expect(out.replace(/^Next: .*\n/m, "")).toBe(
      'Upgraded the operator "ice-cream" from setpoint 0.0.9 to 0.1.0:\n' +
        "  merged   package.json\n  replaced tsconfig.json\n  replaced Dockerfile\n",
    );
    expect(out).toMatch(/^Next: .*npm install$/m);
    expect(code).toBe(0);
    const { scripts, dependencies } = JSON.parse(read("package.json")) as Record<string, Record<string, string>>;
    expect([scripts?.["types"], dependencies?.["pg"]]).toEqual(["tsc", "^8.0.0"]);
    expect(read("Dockerfile")).toContain("USER 65532:65532");
    expect(read("src/index.ts")).toContain('.default("moin")');
    expect((await setpoint("upgrade", "--directory", project)).out).toMatch(/^Nothing to do/);
  });

  test("where the same lines have changed, yours are kept, and the others are beside them until they are merged", async () => {
    older("Dockerfile", "FROM node:26-slim", "FROM node:24");
    edit("Dockerfile", "FROM node:24", "FROM my/node");
    for (let i = 0; i < 2; i++) {
      const { code, out } = await setpoint("upgrade", "--directory", project);
      expect(out).toContain(
        "  conflict Dockerfile: the same lines have changed here and in the scaffold; yours is kept",
      );
      expect(code).toBe(1);
    }
    expect(read("Dockerfile")).toMatch(/^FROM my\/node\n/);
    expect(read("Dockerfile.new")).toMatch(/^<<<<<<< yours\nFROM my\/node\n=======\nFROM node:26-slim\n>>>>>>> new/);
    edit("Dockerfile", "FROM my/node", "FROM node:26-slim");
    expect((await setpoint("upgrade", "--directory", project)).out).toMatch(/^Nothing to do/);
  });

  test("shows in a dry run which lines would change, and changes nothing", async () => {
    older("Dockerfile", "USER 65532:65532\n", "");
    const before = read("Dockerfile");
    const { code, out } = await setpoint("upgrade", "--dry-run", "--directory", project);
    expect(out).toMatch(/would do:\n {2}replaced Dockerfile\n[^]*\n\+USER 65532:65532\n[^]*/);
    expect([code, read("Dockerfile")]).toEqual([0, before]);
    expect(read(".scaffold.json")).toContain("0.0.9");
  });

  test("keeps files away that its author has deleted", async () => {
    older("Dockerfile", "USER 65532:65532\n", "");
    rmSync(path("Dockerfile"));
    const { out } = await setpoint("upgrade", "--directory", project);
    expect(out).toContain("  left     Dockerfile: changed in the scaffold, and deleted by you\n");
    expect(existsSync(path("Dockerfile"))).toBe(false);
  });

  test("names the file that cannot be written, and upgrades once it can", async () => {
    older("Dockerfile", "FROM node:26-slim", "FROM node:24");
    edit("Dockerfile", "FROM node:24", "FROM my/node");
    mkdirSync(path("Dockerfile.new"));
    const { code, err, out } = await setpoint("upgrade", "--directory", project);
    expect(err).toContain(`Cannot write the file "${path("Dockerfile.new")}": expected a writable file`);
    expect(out).toBe("");
    expect(code).toBe(1);
    rmSync(path("Dockerfile.new"), { recursive: true });
    expect((await setpoint("upgrade", "--directory", project)).out).toContain("  conflict Dockerfile: ");
  });

  test("is refused when there is no record of it, or a newer setpoint made it", async () => {
    older("Dockerfile", "USER 65532:65532\n", "");
    writeFileSync(path(".scaffold.json"), read(".scaffold.json").replace("0.0.9", "0.10.0"));
    expect(await setpoint("upgrade", "--directory", project)).toMatchObject({
      code: 2,
      err: expect.stringContaining("it was made by setpoint 0.10.0, and this is 0.1.0; install that version"),
    });
    rmSync(path(".scaffold.json"));
    expect((await setpoint("upgrade", "--directory", project)).err).toContain("it has no .scaffold.json");
    writeFileSync(path(".scaffold.json"), "{");
    expect((await setpoint("upgrade", "--directory", project)).err).toContain("cannot be read; restore it");
  });
});

describe("what becomes of a file", () => {
  const plan = (base?: string, mine?: string, theirs?: string): FileChange | undefined => {
    const texts = (text?: string): ReadonlyMap<string, string> => new Map(text === undefined ? [] : [["f", text]]);
    return planUpgrade(texts(base), texts(mine), texts(theirs), () => undefined).changes[0];
  };

  test.each([
    ["same", "same", "same", undefined],
    ["old", "old", "new", "replaced"],
    ["old", "mine", "old", undefined],
    ["old", "new", "new", undefined],
    ["old", "mine", "new", "conflict"],
    ["old", undefined, "new", "left"],
    ["old", undefined, "old", undefined],
    ["old", "old", undefined, "removed"],
    ["old", "mine", undefined, "left"],
    [undefined, undefined, "new", "added"],
    [undefined, "mine", "new", "conflict"],
  ])("created as %s, now %s, new scaffold %s → %s (without git)", (base, mine, theirs, kind) => {
    expect(plan(base, mine, theirs)?.kind).toBe(kind);
  });
});

test("JSON is merged by fields; where both sides changed one, yours is kept and the conflict is reported", () => {
  const json = (value: object): string => JSON.stringify(value);
  const merged = mergeJson(
    json({ a: 1, gone: 1, deps: { x: "1", y: "1" } }),
    json({ a: 1, gone: 1, deps: { x: "1", y: "own", z: "1" } }),
    json({ a: 2, deps: { x: "2", y: "2" } }),
  );
  expect(JSON.parse(merged?.text ?? "")).toEqual({ a: 2, deps: { x: "2", y: "own", z: "1" } });
  expect(merged?.conflicts).toEqual(["deps.y"]);
  expect(mergeJson("{}", "// comment\n{}", "{}")).toBeUndefined();
});

test("a diff shows changed lines and two around them", () => {
  expect(lineDiff("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nd\nE\nf\ng\n")).toBe(" c\n d\n-e\n+E\n f\n+g\n");
  expect(lineDiff("", "a\n")).toBe("+a\n");
});
