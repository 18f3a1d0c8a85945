/**
 * Checks a base backup as it streams by: each file by the size and checksum of PostgreSQL's own backup
 * manifest, and that the log is there from the start of the backup to its end (PostgreSQL's documentation,
 * "Backup Manifest Format").
 */
import { createHash, type Hash } from "node:crypto";
import { InvalidSnapshotError } from "@setpoint/data-service/agent";
import { z } from "zod";
import { segmentsBetween } from "./log-segments.ts";
import { TarScan } from "./tar-scan.ts";

const manifestFile = "backup_manifest";
const versionFile = "PG_VERSION";
const controlFile = "global/pg_control";
/** These are kept whole; a manifest has about 150 bytes a file. */
const keptBytesMax = 256 << 20;

const manifest = z.object({
  Files: z.array(
    z.object({
      Path: z.string().optional(),
      "Encoded-Path": z.string().optional(),
      Size: z.int(),
      Checksum: z.string(),
      "Checksum-Algorithm": z.literal("SHA256"),
    }),
  ),
  "WAL-Ranges": z.array(z.object({ Timeline: z.int(), "Start-LSN": z.string(), "End-LSN": z.string() })).min(1),
});

/** What a whole base backup says of itself. */
export interface BaseBackupFacts {
  /** The major version, such as 17. */
  readonly version: string;
  readonly systemId: string;
  readonly timeline: number;
  /** Where replay starts, and up to where it must go before the data are consistent. */
  readonly start: string;
  readonly end: string;
  readonly bytes: number;
}

interface SeenFile {
  readonly bytes: number;
  readonly hash: Hash;
}

export class BaseBackupCheck {
  readonly #files = new Map<string, SeenFile>();
  readonly #kept = new Map<string, Uint8Array[]>();
  readonly #scan: TarScan;
  #path = "";
  #bytes = 0;

  constructor() {
    this.#scan = new TarScan({
      begin: (path, bytes) => this.#begin(path, bytes),
      data: (piece) => this.#data(piece),
      end: () => undefined,
    });
  }

  push(piece: Uint8Array): void {
    this.#bytes += piece.length;
    this.#scan.push(piece);
  }

  /** Throws `InvalidSnapshotError` when the backup is not whole. */
  finish(): BaseBackupFacts {
    this.#scan.finish();
    const { Files: files, "WAL-Ranges": ranges } = this.#manifest();
    for (const file of files) {
      const path = file.Path ?? Buffer.from(file["Encoded-Path"] ?? "", "hex").toString();
      const seen = this.#files.get(path);
      if (seen === undefined) throw new InvalidSnapshotError(`the base backup lacks the file ${path}`);
      if (seen.bytes !== file.Size || seen.hash.digest("hex") !== file.Checksum)
        throw new InvalidSnapshotError(`the file ${path} of the base backup is not what the server sent`);
    }
    const range = ranges.reduce((a, b) => (b.Timeline > a.Timeline ? b : a));
    const { Timeline: timeline, "Start-LSN": start, "End-LSN": end } = range;
    const missing = segmentsBetween(timeline, start, end).find((name) => !this.#files.has(`pg_wal/${name}`));
    if (missing !== undefined)
      throw new InvalidSnapshotError(`the base backup lacks the segment ${missing} of its log`);
    const version = this.#keptOf(versionFile).toString("utf8").trim();
    const systemId = this.#keptOf(controlFile).readBigUInt64LE(0).toString();
    return { version, systemId, timeline, start, end, bytes: this.#bytes };
  }

  #begin(path: string, bytes: number): void {
    this.#path = path.replace(/^\.\//, "");
    this.#files.set(this.#path, { bytes, hash: createHash("sha256") });
    if (![manifestFile, versionFile, controlFile].includes(this.#path)) return;
    if (bytes > keptBytesMax) throw new InvalidSnapshotError(`the file ${path} has ${bytes} bytes, which is too much`);
    this.#kept.set(this.#path, []);
  }

  #data(piece: Uint8Array): void {
    this.#files.get(this.#path)?.hash.update(piece);
    // A copy: the buffer belongs to the stream.
    this.#kept.get(this.#path)?.push(Uint8Array.from(piece));
  }

  #manifest(): z.infer<typeof manifest> {
    try {
      return manifest.parse(JSON.parse(this.#keptOf(manifestFile).toString("utf8")));
    } catch (cause) {
      if (cause instanceof InvalidSnapshotError) throw cause;
      throw new InvalidSnapshotError("the manifest of the base backup cannot be read", { cause });
    }
  }

  #keptOf(path: string): Buffer {
    const pieces = this.#kept.get(path);
    if (pieces === undefined) throw new InvalidSnapshotError(`the base backup lacks the file ${path}`);
    return Buffer.concat(pieces);
  }
}
