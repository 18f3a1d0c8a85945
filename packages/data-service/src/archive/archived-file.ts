/**
 * The names of archived files. A name says what its file holds, so that one listing of the store shows the
 * whole archive, and no segment is read for that: `FOLDER/log/NAME/FACTS`.
 */
import { z } from "zod";
import type { LogSegmentFacts, TimelineFork } from "../engine/log.ts";

/** How the bytes of an archived file are checked and opened. */
export interface StoredFile {
  readonly name: string;
  /** Of the bytes before encryption, in base64url. */
  readonly sha256: string;
  /** The name of the key; undefined when the file is stored as it is. */
  readonly encryptionKey?: string | undefined;
}

/** A segment in the store. */
export interface ArchivedSegment extends LogSegmentFacts, StoredFile {}

/** A file in the store that says where a history begins. */
export interface ArchivedFork extends TimelineFork, StoredFile {}

export type ArchivedFile = ArchivedSegment | ArchivedFork;

const stored = [z.string(), z.string().nullable()] as const;
const segmentFacts = z.tuple([z.literal("segment"), z.int(), z.string(), z.string(), z.int(), ...stored]);
const forkFacts = z.tuple([z.literal("fork"), z.int(), z.int(), z.string(), ...stored]);
const facts = z.union([segmentFacts, forkFacts]);

export function isFork(file: ArchivedFile): file is ArchivedFork {
  return "parent" in file;
}

function isSegment(file: ArchivedFile): file is ArchivedSegment {
  return !isFork(file);
}

export function logFolder(folder: string): string {
  return `${folder}/log`;
}

/** Where the file is, and the name that its encryption is bound to. */
export function filePath(folder: string, file: ArchivedFile): string {
  const encoded = Buffer.from(JSON.stringify(factsOf(file))).toString("base64url");
  return `${logFolder(folder)}/${file.name}/${encoded}`;
}

function factsOf(file: ArchivedFile): z.infer<typeof facts> {
  const { timeline, sha256, encryptionKey = null } = file;
  return isFork(file)
    ? ["fork", timeline, file.parent, file.at, sha256, encryptionKey]
    : ["segment", timeline, file.start, file.end, file.endedAtMs, sha256, encryptionKey];
}

/** The file of a path below the folder; undefined when it is no archived file. */
export function parseFilePath(folder: string, path: string): ArchivedFile | undefined {
  const base = `${logFolder(folder)}/`;
  if (!path.startsWith(base)) return undefined;
  const [name = "", encoded = "", ...rest] = path.slice(base.length).split("/");
  const parsed = rest.length === 0 ? parseFacts(encoded) : undefined;
  return parsed === undefined ? undefined : fileOf(name, parsed);
}

function parseFacts(encoded: string): z.infer<typeof facts> | undefined {
  try {
    return facts.safeParse(JSON.parse(Buffer.from(encoded, "base64url").toString("utf8"))).data;
  } catch {
    return undefined;
  }
}

function fileOf(name: string, parsed: z.infer<typeof facts>): ArchivedFile {
  if (parsed[0] === "fork") {
    const [, timeline, parent, at, sha256, key] = parsed;
    return { name, timeline, parent, at, sha256, encryptionKey: key ?? undefined };
  }
  const [, timeline, start, end, endedAtMs, sha256, key] = parsed;
  return { name, timeline, start, end, endedAtMs, sha256, encryptionKey: key ?? undefined };
}

/** All files of the log in a store. */
export interface ArchivedLog {
  readonly segments: readonly ArchivedSegment[];
  readonly forks: readonly ArchivedFork[];
}

/** The files of the log among paths of the store. */
export function logAmong(paths: readonly string[], folder: string): ArchivedLog {
  const files = paths.flatMap((path) => parseFilePath(folder, path) ?? []);
  return { segments: files.filter(isSegment), forks: files.filter(isFork) };
}
