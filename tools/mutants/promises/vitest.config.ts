/** Runs tests with one promise broken: SETPOINT_PROMISE names it, and only the transformed source knows. */
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { mutated, promiseMutants } from "./promise-mutants.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const mutant = promiseMutants.find(({ id }) => id === process.env["SETPOINT_PROMISE"]);
const resolve = { conditions: ["@setpoint/source"] };

export default defineConfig({
  root,
  resolve,
  ssr: { resolve },
  plugins: [
    {
      name: "broken-promise",
      enforce: "pre",
      transform: (code, id) =>
        mutant !== undefined && id.split("?")[0] === root + mutant.file ? mutated(code, mutant) : undefined,
    },
  ],
  // The cache knows nothing of the mutant, and would give the source as it is.
  test: {
    include: ["**/*.test.ts", "tools/mutants/promises/explored.ts"],
    environment: "node",
    testTimeout: 120_000,
    fsModuleCache: false,
  },
});
