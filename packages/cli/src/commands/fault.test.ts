import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { main } from "../main.ts";

test("a fault where no pod network runs is refused with what to do", async () => {
  const directory = mkdtempSync(join(tmpdir(), "setpoint-fault-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  let text = "";
  const output = { out: () => {}, err: (line: string) => void (text += line), hasColors: false };
  expect(await main(["fault", "partition", "a", "b", "--data-dir", directory], output)).toBe(1);
  expect(text).toContain(
    `"${directory}" has no pod network that runs; start "setpoint up --data-dir ${directory}" as root`,
  );
});
