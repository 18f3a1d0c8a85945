/** A small base backup, as pg_basebackup writes one to its output. */
import { createHash } from "node:crypto";

const blockBytes = 512;

export interface TarFile {
  readonly path: string;
  readonly data: Buffer;
}

function header(path: string, bytes: number): Buffer {
  const block = Buffer.alloc(blockBytes);
  block.write(path, 0);
  block.write(`${bytes.toString(8).padStart(11, "0")}\0`, 124);
  block.write("0", 156);
  block.write("0000600\0", 100);
  block.write("ustar\0" + "00", 257);
  // Its sum counts its own field as spaces.
  block.fill(" ", 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}

export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap(({ path, data }) => [
    header(path, data.length),
    data,
    Buffer.alloc((blockBytes - (data.length % blockBytes)) % blockBytes),
  ]);
  return Buffer.concat([...parts, Buffer.alloc(2 * blockBytes)]);
}

/** With `change`, one of the files is another one than its manifest says. */
export function baseBackup(change: (files: TarFile[]) => TarFile[] = (files) => files): Buffer {
  const control = Buffer.alloc(64);
  control.writeBigUInt64LE(7_530_000_000_000_000_077n);
  const data = [
    { path: "PG_VERSION", data: Buffer.from("17\n") },
    { path: "base/1/1259", data: Buffer.alloc(9_000, 7) },
    { path: "global/pg_control", data: control },
  ];
  const log = [
    { path: "pg_wal/000000020000000000000004", data: Buffer.alloc(1_024, 1) },
    { path: "pg_wal/000000020000000000000005", data: Buffer.alloc(1_024, 2) },
  ];
  const manifest = {
    "PostgreSQL-Backup-Manifest-Version": 1,
    Files: data.map((file) => ({
      Path: file.path,
      Size: file.data.length,
      "Checksum-Algorithm": "SHA256",
      Checksum: createHash("sha256").update(file.data).digest("hex"),
    })),
    "WAL-Ranges": [{ Timeline: 2, "Start-LSN": "0/4000028", "End-LSN": "0/5000100" }],
  };
  const files = [...data, ...log, { path: "backup_manifest", data: Buffer.from(JSON.stringify(manifest)) }];
  return tarOf(change(files));
}
