import { expect, test } from "vitest";
import { world } from "./reflector.fixture.ts";
import { complete, refused, type Script } from "./scripted-server.fixture.ts";

test("a problem is logged once, however often it occurs, and so is its end", async () => {
  const forbidden = refused(403, "Forbidden");
  const broken: Script = { list: [], at: 9, ends: "cut" };
  const { clock, lines, reflector } = world([forbidden, broken, forbidden, { list: [], at: 9 }], { isRaw: true });
  await clock.run(2_000);
  expect(reflector.problem).toContain("Cannot list boxes in all namespaces");
  await clock.run(10_000);
  expect(reflector.problem).toBeUndefined();
  const said = lines.filter(({ level }) => level === "error" || level === "info");
  expect(said.map(({ message, fields }) => `${message}: ${String(fields["resource"])}`)).toEqual([
    "Cannot fill a cache: boxes",
    "Cache can be filled again: boxes",
  ]);
});

test("a cache that is not filled from bytes says so too when it can be filled again", async () => {
  const { clock, lines, reflector } = world([refused(403, "Forbidden"), [complete(5)]]);
  await clock.run(2_000);
  expect(reflector.problem).toBeUndefined();
  expect(lines.at(-1)?.message).toBe("Cache can be filled again");
});
