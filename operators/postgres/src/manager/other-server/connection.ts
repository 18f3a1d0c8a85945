/** How this instance connects to a server outside of the cluster, in the words of libpq. */
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { OtherServer } from "../../instance/instance-protocol.ts";
import { otherServerFiles, otherServerPath } from "../../kind/names.ts";
import { replaceFile } from "../data-directory.ts";
import { paths } from "../paths.ts";
import { lastLine } from "../programs.ts";

const connectSeconds = 10;
/** What libpq reads of a file of passwords: any server, database and user. */
const passwordFile = "pgpass";
const ownerOnly = 0o700;

/** As people name it. */
export function nameOf({ host, port }: OtherServer): string {
  return `${host}:${port}`;
}

/** `more` are other fields of the connection. */
export function connectionTo(
  { host, port, user, database, sslMode }: OtherServer,
  more: Readonly<Record<string, string>>,
): string {
  copyLogin();
  const { ca, certificate, key } = otherServerFiles;
  const fields = {
    host,
    port: String(port),
    user,
    dbname: database,
    sslmode: sslMode,
    connect_timeout: String(connectSeconds),
    ...fileField("passfile", passwordFile),
    ...fileField("sslrootcert", ca),
    ...fileField("sslcert", certificate),
    ...fileField("sslkey", key),
    ...more,
  };
  return Object.entries(fields)
    .map(([name, value]) => `${name}='${value.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`)
    .join(" ");
}

function fileField(field: string, file: string): Readonly<Record<string, string>> {
  const path = join(paths.otherServer, file);
  return existsSync(path) ? { [field]: path } : {};
}

/**
 * Copies what the Secrets hold, as PostgreSQL's clients accept it: their own files, readable by nobody else.
 * The mounted ones change when the Secrets do.
 */
export function copyLogin(): void {
  mkdirSync(paths.otherServer, { recursive: true, mode: ownerOnly });
  const { password, ca, certificate, key } = otherServerFiles;
  for (const file of [ca, certificate, key]) replaceCopy(file, mounted(file));
  const secret = mounted(password)?.trim();
  replaceCopy(
    passwordFile,
    secret === undefined ? undefined : `*:*:*:*:${secret.replaceAll("\\", "\\\\").replaceAll(":", "\\:")}\n`,
  );
}

function mounted(file: string): string | undefined {
  const path = join(otherServerPath, file);
  return existsSync(path) ? readFileSync(path, "utf8") : undefined;
}

function replaceCopy(file: string, text: string | undefined): void {
  const path = join(paths.otherServer, file);
  if (text === undefined) rmSync(path, { force: true });
  else if (!existsSync(path) || readFileSync(path, "utf8") !== text) replaceFile(path, text);
}

/** The server's own sentence, which others of libpq may follow. */
export function complaintOf(output: string): string {
  return /(FATAL|ERROR): .*/.exec(output)?.[0].slice(0, 300) ?? lastLine(output);
}
