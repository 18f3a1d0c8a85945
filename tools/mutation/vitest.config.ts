/** Runs the ordinary tests against sources that contain all mutants. */
import { defineConfig } from "vitest/config";
import { instrumentedFiles } from "./instrumented-files.ts";

const resolve = { conditions: ["@setpoint/source"] };
const instrumented = instrumentedFiles();

export default defineConfig({
  root: new URL("../..", import.meta.url).pathname,
  resolve,
  ssr: { resolve },
  plugins: [
    {
      name: "setpoint-mutants",
      enforce: "pre",
      transform: (_code: string, id: string) => instrumented.get(id.split("?")[0] ?? "")?.code,
    },
  ],
  test: {
    include: ["packages/*/src/**/*.test.ts"],
    setupFiles: [new URL("./alive.ts", import.meta.url).pathname],
    testTimeout: 20_000,
    reporters: process.env["SETPOINT_MUTANT_HITS"] === undefined ? [{}] : ["default"],
  },
});
