import { expect, test, vi } from "vitest";
import { testModuleLaws } from "./module-laws.ts";

/** The time limit of a test of laws, in seconds; nothing is explored. */
function limitOf(seconds: number): number {
  const limits: number[] = [];
  const declare = (_name: string, { timeout }: { readonly timeout: number }): void => void limits.push(timeout);
  testModuleLaws(declare, "laws", new URL("file:///worlds.ts"), { seconds, report: () => undefined });
  const [limit = 0] = limits;
  return limit / 1_000;
}

test("SETPOINT_LAWS_TIMES makes an exploration last longer", () => {
  vi.stubEnv("SETPOINT_LAWS_TIMES", undefined);
  const usual = limitOf(10);
  vi.stubEnv("SETPOINT_LAWS_TIMES", "3");
  const longer = limitOf(10);
  vi.unstubAllEnvs();
  expect(longer - usual).toBe(120);
});

test.each(["", "0", "-1", "soon", "2000"])("SETPOINT_LAWS_TIMES=%s is refused", (given) => {
  vi.stubEnv("SETPOINT_LAWS_TIMES", given);
  try {
    expect(() => limitOf(10)).toThrow(`SETPOINT_LAWS_TIMES is "${given}"; expected a number above 0, at most 1000`);
  } finally {
    vi.unstubAllEnvs();
  }
});
