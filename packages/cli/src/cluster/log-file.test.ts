import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownFolder } from "../own-folder.fixture.ts";
import { openLog } from "./log-file.ts";

test("a log takes two files of its size at most, and the newest lines are in them", () => {
  const folder = ownFolder("log");
  const path = join(folder, "server.log");
  const log = openLog(path, 100);
  for (let i = 0; i < 50; i++) log.write(`line ${i}\n`);
  log.close();
  expect(readdirSync(folder).toSorted()).toEqual(["server.log", "server.log.1"]);
  const text = readFileSync(`${path}.1`, "utf8") + readFileSync(path, "utf8");
  expect(text.length).toBeLessThan(220);
  expect(text).toContain("line 49\n");
  expect(text).not.toContain("line 0\n");
});
