/** What this host must have to run pods. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { nodeError } from "../errors.ts";
import { conmonProgram, crunProgram } from "./conmon.ts";

/** Programs and the Debian packages that have them. */
const tools = [
  [crunProgram, "crun"],
  [conmonProgram, "conmon"],
  ["/usr/bin/unshare", "util-linux"],
  ["/usr/bin/nsenter", "util-linux"],
  ["/usr/bin/setpriv", "util-linux"],
] as const;

/** The version of the OCI runtime. Throws ERR_TOOL_MISSING with the command that installs what is missing. */
export function requireTools(): string {
  const missing = [...new Set(missingPackages())];
  if (missing.length > 0) {
    const verb = missing.length === 1 ? "is" : "are";
    const message = `Cannot run pods: ${missing.join(" and ")} ${verb} not installed; type: apt-get install ${missing.join(" ")}`;
    throw nodeError("ERR_TOOL_MISSING", message);
  }
  const text = execFileSync(crunProgram, ["--version"], { encoding: "utf8", env: {} });
  return /crun version (\S+)/.exec(text)?.[1] ?? "unknown";
}

/** What has gone since the agent started; undefined when pods can run. */
export function missingTools(): string | undefined {
  const missing = [...new Set(missingPackages())];
  return missing.length === 0 ? undefined : `container runtime is down: not installed: ${missing.join(", ")}`;
}

function missingPackages(): readonly string[] {
  return tools.filter(([program]) => !existsSync(program)).map(([, name]) => name);
}
