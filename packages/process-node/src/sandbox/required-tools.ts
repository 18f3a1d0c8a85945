/** What this host must have to run pods. */
import { execFileSync } from "node:child_process";
import { nodeError } from "../errors.ts";
import { missingPackages, missingSentence } from "../host/host-tools.ts";
import { crunProgram } from "./conmon.ts";

/**
 * Throws ERR_TOOL_MISSING when no pod can run, with the command that installs everything that is missing,
 * also what pods could do without.
 */
export function requireTools(): void {
  const missing = missingPackages();
  if (missing.some(({ need }) => need === "pods"))
    throw nodeError("ERR_TOOL_MISSING", `Cannot run pods: ${missingSentence(missing)}`);
}

/** Of the OCI runtime. */
export function runtimeVersion(): string {
  const text = execFileSync(crunProgram, ["--version"], { encoding: "utf8", env: {} });
  return /crun version (\S+)/.exec(text)?.[1] ?? "unknown";
}

/** What has gone since the agent started; undefined when pods can run. */
export function missingTools(): string | undefined {
  const missing = missingPackages().filter(({ need }) => need === "pods");
  const names = missing.map(({ name }) => name).join(", ");
  return missing.length === 0 ? undefined : `container runtime is down: not installed: ${names}`;
}
