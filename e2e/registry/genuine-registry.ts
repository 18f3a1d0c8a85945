/** The registry of the distribution project, from its Debian package, as a process on loopback. */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { imageCacheFolder } from "@setpoint/cli";
import { silentLogger, sleep } from "@setpoint/host";
import { systemClock } from "@setpoint/host/system";
import { createImageCatalog, ImageStore } from "@setpoint/process-node";
import { basicLogin, TokenServer, username } from "./token-server.ts";

/** `password` by bcrypt. */
const htpasswd = `${username}:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n`;

/** Before a test names another one: the package is unpacked once. */
const cache = imageCacheFolder();

/** What the registry asks of its clients. */
export type RegistryLogin = "none" | "basic" | "token";

export class GenuineRegistry implements AsyncDisposable {
  /** `127.0.0.1:PORT` */
  readonly name: string;
  readonly #login: RegistryLogin;
  readonly #parts: AsyncDisposableStack;
  readonly #tokens: TokenServer | undefined;

  private constructor(
    name: string,
    login: RegistryLogin,
    tokens: TokenServer | undefined,
    parts: AsyncDisposableStack,
  ) {
    this.name = name;
    this.#login = login;
    this.#tokens = tokens;
    this.#parts = parts;
  }

  static async start(login: RegistryLogin): Promise<GenuineRegistry> {
    await using parts = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "setpoint-registry-"));
    parts.defer(() => rmSync(folder, { recursive: true, force: true }));
    const name = `127.0.0.1:${await freePort()}`;
    const tokens = login === "token" ? parts.use(await TokenServer.start(folder)) : undefined;
    const auth = login === "basic" ? basicAuth(folder) : tokens?.auth;
    const config = {
      version: "0.1",
      log: { level: "error" },
      storage: { filesystem: { rootdirectory: join(folder, "data") } },
      http: { addr: name, secret: "not so secret" },
      ...(auth === undefined ? {} : { auth }),
    };
    writeFileSync(join(folder, "config.json"), JSON.stringify(config));
    const child = spawn(await registryProgram(), ["serve", join(folder, "config.json")], { stdio: "ignore" });
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
    parts.defer(async () => {
      child.kill("SIGKILL");
      await ended;
    });
    await untilAnswering(`http://${name}/v2/`);
    return new GenuineRegistry(name, login, tokens, parts.move());
  }

  /** Puts a blob or a manifest there, as a build tool does. Returns its digest. */
  async push(
    repository: string,
    content: Buffer,
    manifest?: { readonly tag: string; readonly type: string },
  ): Promise<string> {
    const digest = `sha256:${createHash("sha256").update(content).digest("hex")}`;
    const base = `http://${this.name}/v2/${repository}`;
    const headers = { authorization: this.#authorization(repository) };
    if (manifest !== undefined) {
      await this.#put(`${base}/manifests/${manifest.tag}`, content, { ...headers, "content-type": manifest.type });
      return digest;
    }
    const started = await fetch(`${base}/blobs/uploads/`, { method: "POST", headers });
    const target = new URL(started.headers.get("location") ?? "", base);
    target.searchParams.set("digest", digest);
    await this.#put(target.href, content, { ...headers, "content-type": "application/octet-stream" });
    return digest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }

  #authorization(repository: string): string {
    if (this.#tokens !== undefined) return `Bearer ${this.#tokens.token(repository, ["pull", "push"])}`;
    return this.#login === "basic" ? basicLogin : "";
  }

  async #put(url: string, body: Buffer, headers: Readonly<Record<string, string>>): Promise<void> {
    const answer = await fetch(url, { method: "PUT", body: new Uint8Array(body), headers });
    if (answer.status !== 201) throw new Error(`Cannot push: ${answer.status} ${await answer.text()}`);
  }
}

function basicAuth(folder: string): object {
  writeFileSync(join(folder, "htpasswd"), htpasswd);
  return { htpasswd: { realm: "candy", path: join(folder, "htpasswd") } };
}

async function registryProgram(): Promise<string> {
  const image = "test.local/registry:1";
  const catalog = createImageCatalog([], {
    [image]: { closure: { suite: "bookworm", packages: ["docker-registry"] } },
  });
  const store = new ImageStore({ clock: systemClock, log: silentLogger, directory: cache, catalog });
  const { rootDirectory } = await store.ensure(image);
  return join(rootDirectory, "usr/bin/docker-registry");
}

async function untilAnswering(url: string): Promise<void> {
  for (let tries = 0; tries < 300; tries++) {
    const answer = await fetch(url).catch(() => undefined);
    if (answer !== undefined) return;
    await sleep(systemClock, 100);
  }
  throw new Error(`Waited 30 s in vain for ${url}`);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
