/**
 * Which settings the server gets: those of the document once PostgreSQL accepts them, and until then those
 * that a server has run with. These lie with the data, so that a copy of the data can start with them too.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { canonicalText, type ServerSettings } from "../instance/instance-protocol.ts";
import type { ServerIdentity } from "./configuration-files.ts";
import { type DataDirectory, replaceFile } from "./data-directory.ts";
import { paths } from "./paths.ts";
import type { SettingsTrial } from "./settings-trial.ts";
import type { Sql } from "./sql.ts";

/** What users choose; the rest of the settings is the operator's. */
type ChosenSettings = Pick<ServerSettings, "parameters" | "accessRules">;

interface Judgement {
  readonly key: string;
  readonly errors: readonly string[];
}

const provenFile = join(paths.data, "setpoint.settings.json");
/** What a server says that its settings keep from starting. */
const fatalBySettings =
  /pg_hba|configuration file|shared memory|semaphore|parameter|setting|could not (access file|load library)/i;

export interface SettingsKeeperParts {
  readonly name: string;
  readonly trial: SettingsTrial;
  readonly data: DataDirectory;
  readonly sql: Sql;
}

export class SettingsKeeper {
  readonly #parts: SettingsKeeperParts;
  #judgement: Judgement | undefined;
  /** The last ones that were accepted; a server need not have restarted with them yet. */
  #last: ServerSettings | undefined;

  constructor(parts: SettingsKeeperParts) {
    this.#parts = parts;
  }

  /** Why PostgreSQL refuses the last settings that were wanted; empty when it accepts them. */
  get errors(): readonly string[] {
    return this.#judgement?.errors ?? [];
  }

  /**
   * What a server gets. `running` is the one that can be asked. Undefined when PostgreSQL refuses these, and
   * no server has run with others yet.
   */
  async accepted(
    wanted: ServerSettings,
    running: ServerIdentity | undefined,
    signal: AbortSignal,
  ): Promise<ServerSettings | undefined> {
    const key = keyOf(wanted);
    const proven = readProven();
    if (this.#judgement?.key !== key) {
      const isProven = proven !== undefined && chosenKey(proven) === chosenKey(wanted);
      this.#judgement = { key, errors: isProven ? [] : await this.#judge(wanted, running, signal) };
    }
    if (this.errors.length === 0) return (this.#last = wanted);
    const chosen = this.#last ?? proven;
    return chosen === undefined
      ? undefined
      : { ...wanted, parameters: chosen.parameters, accessRules: chosen.accessRules };
  }

  /** A server has run with them. */
  prove({ parameters, accessRules }: ServerSettings): void {
    const text = JSON.stringify({ parameters, accessRules } satisfies ChosenSettings);
    if (!existsSync(provenFile) || readFileSync(provenFile, "utf8") !== text) replaceFile(provenFile, text);
  }

  /** A server that was started with them has ended for this reason; whether they are the cause. */
  blame(wanted: ServerSettings, fatal: string | undefined): boolean {
    if (fatal === undefined || !fatalBySettings.test(fatal) || this.errors.length > 0) return false;
    const proven = readProven();
    if (proven !== undefined && chosenKey(proven) === chosenKey(wanted)) return false;
    this.#last = undefined;
    const field = fatal.includes("pg_hba") ? "spec.accessRules" : "spec.parameters";
    this.#judgement = { key: keyOf(wanted), errors: [`${field}: the server does not start: ${fatal}`] };
    return true;
  }

  async #judge(
    wanted: ServerSettings,
    running: ServerIdentity | undefined,
    signal: AbortSignal,
  ): Promise<readonly string[]> {
    const { trial, data, sql, name } = this.#parts;
    const errors = await trial.errorsOf(wanted, name, signal);
    if (running === undefined) return errors;
    if (errors.length === 0) return data.whileConfigured(wanted, running, () => sql.fileErrors());
    const expected = await sql.expectations(errors.flatMap((each) => unexplained(each) ?? []));
    return errors.map((each) => withExpectation(each, expected));
  }
}

/** The parameter of which PostgreSQL says that the value is wrong, and not what is right. */
function unexplained(error: string): string | undefined {
  return /^spec\.parameters\[([^\]]+)\]: invalid value [^;]*$/.exec(error)?.[1];
}

function withExpectation(error: string, expected: ReadonlyMap<string, string>): string {
  const text = expected.get(unexplained(error) ?? "");
  return text === undefined ? error : `${error}; expected ${text}`;
}

function readProven(): ChosenSettings | undefined {
  if (!existsSync(provenFile)) return undefined;
  try {
    return JSON.parse(readFileSync(provenFile, "utf8")) as ChosenSettings;
  } catch {
    return undefined; // It was being copied while it changed; the next server that runs writes it again.
  }
}

function keyOf(settings: ServerSettings): string {
  return `${chosenKey(settings)} ${settings.memoryMegabytes ?? ""}`;
}

function chosenKey({ parameters, accessRules }: ChosenSettings): string {
  return canonicalText({ parameters, accessRules });
}
