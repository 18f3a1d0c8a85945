/**
 * What PostgreSQL's archive_command and the archiver leave for each other in a folder of the pod: a copy of
 * the segment NAME, then NAME.stored or NAME.failed. `archive-command.ts` is the other side.
 */
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Both sides, of different users, may read and remove what the other one wrote. */
const forBoth = 0o660;
const reportFile = "report.json";
const endFile = "server-ended";

export class ArchiveFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Segments that wait to be stored, in their order. */
  requests(): readonly string[] {
    const names = readdirSync(this.#folder);
    return names.filter((name) => /^[0-9A-F]{8,24}(\.history|\.partial|\.[0-9A-F]{8}\.backup)?$/.test(name)).toSorted();
  }

  read(name: string): Uint8Array {
    return readFileSync(join(this.#folder, name));
  }

  /** Answers archive_command; `failure` is for the log of the server. */
  answer(name: string, failure?: string): void {
    rmSync(join(this.#folder, name), { force: true });
    this.#write(`${name}.${failure === undefined ? "stored" : "failed"}`, `${failure ?? ""}\n`);
  }

  writeReport(report: object): void {
    this.#write(reportFile, JSON.stringify(report));
  }

  readReport(): unknown {
    const path = join(this.#folder, reportFile);
    try {
      return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
    } catch {
      return undefined; // It is about to be replaced.
    }
  }

  /** Whether the server has ended, and archives no more. */
  get hasServerEnded(): boolean {
    return existsSync(join(this.#folder, endFile));
  }

  serverEnds(hasEnded: boolean): void {
    if (hasEnded) this.#write(endFile, "");
    else rmSync(join(this.#folder, endFile), { force: true });
  }

  #write(name: string, text: string): void {
    const path = join(this.#folder, name);
    writeFileSync(`${path}.new`, text, { mode: forBoth });
    renameSync(`${path}.new`, path);
  }
}
