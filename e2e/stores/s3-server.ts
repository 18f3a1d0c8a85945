/**
 * A real S3 server on loopback that is not ours: versitygw, which keeps objects as files of a folder. It is
 * built once by Go's own client, through the Go module proxy, into the cache of this project.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { installGoProgram } from "./go-program.ts";

const startMsMax = 10_000;

/** The path of the server's program; the reason when there is none. */
export function installS3Server(): ReturnType<typeof installGoProgram> {
  const module = "github.com/versity/versitygw/cmd/versitygw";
  return installGoProgram({ what: "S3 server", module, version: "v1.8.0", buildMsMax: 280_000 });
}

export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: { readonly id: string; readonly secret: string };
  /** The paths of all files of the bucket. */
  files(): readonly string[];
  /** Pieces of uploads that were begun and neither completed nor aborted. */
  uploads(): readonly string[];
  readonly folder: string;
  /** Stops the server, as a machine that is cut off; `resume` lets it go on. */
  suspend(): void;
  resume(): void;
}

export async function startS3Server(path: string): Promise<S3Server> {
  const root = mkdtempSync(join(tmpdir(), "setpoint-s3-"));
  const bucket = "backups";
  const folder = join(root, bucket);
  mkdirSync(folder);
  const port = await freePort();
  const credentials = { id: "canary-id-of-s3", secret: "canary-secret/of+s3" };
  const child = spawn(path, ["--port", `127.0.0.1:${port}`, "posix", root], {
    env: { ROOT_ACCESS_KEY: credentials.id, ROOT_SECRET_KEY: credentials.secret, HOME: root },
    stdio: "ignore",
  });
  await listening(port, child);
  const all = (): readonly string[] =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .toSorted();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    credentials,
    folder,
    files: () => all().filter((file) => !file.startsWith(".sgwtmp")),
    uploads: () => all().filter((file) => file.startsWith(".sgwtmp")),
    suspend: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await once(child, "close");
      rmSync(root, { recursive: true });
    },
  };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

export async function listening(port: number, child: ChildProcess): Promise<void> {
  for (const until = Date.now() + startMsMax; ;) {
    const socket = connect(port, "127.0.0.1");
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    if (child.exitCode !== null || Date.now() > until)
      throw new Error(`The server did not start (exit code ${child.exitCode})`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
