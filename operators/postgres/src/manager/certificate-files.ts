/** Copies of the mounted certificates that PostgreSQL accepts: its own, and readable by nobody else. */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replaceFile } from "./data-directory.ts";
import { paths } from "./paths.ts";

/** `server` is shown to clients and peers; with `replication` an instance is a client of the others. */
const roles = ["server", "replication"] as const;
type Role = (typeof roles)[number];
const files = ["ca.crt", "tls.crt", "tls.key"];

export interface KeyMaterial {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** Copies what changed; whether anything did. A Secret that the kubelet exchanges appears as a whole. */
export function copyCertificates(): boolean {
  let hasChanged = false;
  for (const role of roles) {
    const target = join(paths.certificates, role);
    mkdirSync(target, { recursive: true, mode: 0o700 });
    for (const file of files) {
      const text = readFileSync(join(paths.mountedCertificates, role, file), "utf8");
      const copy = join(target, file);
      if (existsSync(copy) && readFileSync(copy, "utf8") === text) continue;
      replaceFile(copy, text);
      hasChanged = true;
    }
  }
  return hasChanged;
}

export function keyMaterial(role: Role): KeyMaterial {
  const [ca = "", cert = "", key = ""] = files.map((file) =>
    readFileSync(join(paths.certificates, role, file), "utf8"),
  );
  return { ca, cert, key };
}
