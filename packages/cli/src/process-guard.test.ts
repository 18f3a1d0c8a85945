import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("a process goes on when parts of it fail, and says where", () => {
  const fixture = new URL("./process-guard.fixture.ts", import.meta.url).pathname;
  const { status, stdout } = spawnSync(process.execPath, ["--conditions=@setpoint/source", fixture], {
    encoding: "utf8",
  });
  expect(status).toBe(0);
  const lines = stdout.trimEnd().split("\n");
  expect(lines.pop()).toBe("still here");
  expect(lines).toHaveLength(3);
  expect(stdout).toContain("in a timer");
  expect(stdout).toMatch(/in a promise.*process-guard\.fixture\.ts/);
});
