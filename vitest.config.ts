import { defineConfig } from "vitest/config";

// Packages resolve to their sources, so nothing must be built to run a test.
const resolve = { conditions: ["@setpoint/source"] };
const ssr = { resolve };
const project = (name: string, include: string[], timeout: number) => ({
  resolve,
  ssr,
  test: { name, include, testTimeout: timeout, hookTimeout: timeout, environment: "node" },
});

export default defineConfig({
  resolve,
  ssr,
  test: {
    projects: [
      project(
        "unit",
        ["packages/*/src/**/*.test.ts", "operators/*/src/**/*.test.ts", "tools/**/*.test.ts", "!**/*.scenario.test.ts"],
        20_000,
      ),
      project(
        "sim",
        [
          "packages/*/src/**/*.scenario.test.ts",
          "operators/*/src/**/*.scenario.test.ts",
          "tools/**/*.scenario.test.ts",
          "examples/*/*.test.ts",
        ],
        60_000,
      ),
      {
        ...project("e2e", ["e2e/**/*.test.ts"], 300_000),
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
