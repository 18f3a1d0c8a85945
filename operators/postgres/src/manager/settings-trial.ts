/**
 * Asks PostgreSQL itself whether it would start with a configuration, before any file of the server changes.
 * A server that only computes how much shared memory it needs reads all settings and loads all libraries; it
 * needs no data but the control file.
 */
import { copyFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerSettings } from "../instance/instance-protocol.ts";
import { configurationText } from "./configuration-files.ts";
import { paths } from "./paths.ts";
import type { Programs } from "./programs.ts";
import { trialErrors } from "./trial-errors.ts";

const trialMsMax = 20_000;
const ownerOnly = 0o700;
/** Its lines have no prefix, and all that it complains about is among them. */
const logging = ["log_line_prefix=", "log_min_messages=info", "log_destination=stderr", "log_error_verbosity=default"];

export class SettingsTrial {
  readonly #programs: Programs;
  readonly #data: string;

  /** `data` are of the major version of the programs. */
  constructor(programs: Programs, data: string = paths.data) {
    this.#programs = programs;
    this.#data = data;
  }

  /** Why a server would not start with these settings; empty when it would. */
  async errorsOf(settings: ServerSettings, name: string, signal: AbortSignal): Promise<readonly string[]> {
    this.#prepare(configurationText(settings, { name }));
    const asked = ["-C", "shared_memory_size", "-D", paths.trial];
    const args = [...asked, ...logging.flatMap((each) => ["-c", each])];
    const within = AbortSignal.any([signal, AbortSignal.timeout(trialMsMax)]);
    const { code, output } = await this.#programs.run("postgres", args, { signal: within });
    within.throwIfAborted();
    return code === 0
      ? memoryErrors(Number(output.trim().split("\n").at(-1)), settings.memoryMegabytes)
      : trialErrors(output, settings.parameters);
  }

  #prepare(configuration: string): void {
    rmSync(paths.trial, { recursive: true, force: true });
    mkdirSync(join(paths.trial, "global"), { recursive: true, mode: ownerOnly });
    for (const file of ["PG_VERSION", "global/pg_control"])
      copyFileSync(join(this.#data, file), join(paths.trial, file));
    writeFileSync(join(paths.trial, "postgresql.conf"), configuration);
    writeFileSync(join(paths.trial, "postgresql.auto.conf"), "");
  }
}

function memoryErrors(needed: number, limit: number | undefined): readonly string[] {
  if (limit === undefined || !(needed >= limit)) return [];
  return [
    `spec.parameters: the server would need ${needed} MB of shared memory, expected less than the ${limit} MB of spec.resources.limits.memory; lower shared_buffers or raise the limit`,
  ];
}
