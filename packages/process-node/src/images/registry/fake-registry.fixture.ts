/** A registry in this process that answers as a test wants, also wrongly. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { layoutFiles, sha256, type FixtureImage } from "../oci/archive.fixture.ts";

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

export class FakeRegistry implements AsyncDisposable {
  /** `127.0.0.1:PORT` */
  readonly name: string;
  /** Method, path and `authorization` of each request. */
  readonly requests: string[] = [];
  readonly answers = new Map<string, Answer>();
  /** Answers before `answers` do, unless it returns undefined. */
  onRequest: (request: IncomingMessage) => Answer | undefined = () => undefined;
  readonly #close: () => Promise<void>;

  private constructor(name: string, close: () => Promise<void>) {
    this.name = name;
    this.#close = close;
  }

  static async start(): Promise<FakeRegistry> {
    const server = createServer((request, response) => registry.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    };
    const registry = new FakeRegistry(`127.0.0.1:${port}`, close);
    return registry;
  }

  /** Serves the image as `repository:tag`. Returns the digest of its manifest. */
  serve(repository: string, tag: string, image: FixtureImage): string {
    const files = layoutFiles(image);
    for (const [path, content] of files) {
      if (!path.startsWith("blobs/")) continue;
      const digest = path.slice("blobs/".length).replace("/", ":");
      this.answers.set(`/v2/${repository}/blobs/${digest}`, { body: content });
      this.answers.set(`/v2/${repository}/manifests/${digest}`, { body: content });
    }
    const index = JSON.parse(files.get("index.json")?.toString() ?? "") as { manifests: { digest: string }[] };
    const digest = index.manifests[0]?.digest ?? "";
    this.tag(repository, tag, this.answers.get(`/v2/${repository}/manifests/${digest}`)?.body ?? "");
    return digest;
  }

  /** Serves a manifest or index under a tag and its digest. Returns the digest. */
  tag(repository: string, tag: string, document: Buffer | string): string {
    const digest = sha256(document);
    for (const each of [tag, digest]) this.answers.set(`/v2/${repository}/manifests/${each}`, { body: document });
    return digest;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#close();
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { method = "", url = "", headers } = request;
    this.requests.push([method, url, headers.authorization ?? ""].join(" ").trim());
    const known = this.answers.get(url) ?? { status: 404, body: '{"errors":[{"code":"MANIFEST_UNKNOWN"}]}' };
    const { status = 200, headers: more = {}, body = "" } = this.onRequest(request) ?? known;
    response.writeHead(status, more).end(body);
  }
}
