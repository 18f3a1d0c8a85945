/**
 * A server of Google Cloud Storage's protocol on loopback that is not ours: fake-gcs-server, which keeps
 * objects as files of a folder. Go's own client builds it once, through the Go module proxy, into the cache
 * of this project.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installGoProgram } from "../stores/go-program.ts";
import { freePort, listening } from "../stores/s3-server.ts";

/** The path of the server's program; the reason when there is none. */
export function installGcsServer(): ReturnType<typeof installGoProgram> {
  const module = "github.com/fsouza/fake-gcs-server";
  // Two minutes of work; on two cores that other work shares it took nine.
  return installGoProgram({ what: "GCS server", module, version: "v1.56.1", buildMsMax: 1_500_000 });
}

export interface GcsServer extends AsyncDisposable {
  readonly endpoint: string;
  readonly bucket: string;
  /** The objects of the bucket are the files of this folder. */
  readonly folder: string;
  /** Stops the server, as a machine that is cut off; `resume` lets it go on. */
  suspend(): void;
  resume(): void;
}

export async function startGcsServer(path: string): Promise<GcsServer> {
  const root = mkdtempSync(join(tmpdir(), "setpoint-gcs-"));
  const bucket = "backups";
  const folder = join(root, bucket);
  mkdirSync(folder);
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const args = [
    ...["-scheme", "http", "-host", "127.0.0.1", "-port", String(port)],
    ...["-backend", "filesystem", "-filesystem-root", root],
    ...["-external-url", endpoint, "-public-host", `127.0.0.1:${port}`],
  ];
  const child = spawn(path, args, { env: { HOME: root }, stdio: "ignore" });
  await listening(port, child);
  return {
    endpoint,
    bucket,
    folder,
    suspend: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "close");
      rmSync(root, { recursive: true });
    },
  };
}
