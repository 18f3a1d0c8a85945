/** Gives tokens to clients that send the password, signed as the registry expects them. */
import { sign, X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createCertificateAuthority, type KeyPair } from "@setpoint/host/certificates";
import { systemClock, systemRandom } from "@setpoint/host/system";

export const username = "me";
export const password = "open sesame";
export const basicLogin = `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;

const issuer = "candy-shop";
const service = "candy-registry";

export class TokenServer implements AsyncDisposable {
  /** For the registry's configuration. */
  readonly auth: object;
  readonly #signer: KeyPair;
  readonly #server: Server;

  private constructor(auth: object, signer: KeyPair, server: Server) {
    this.auth = auth;
    this.#signer = signer;
    this.#server = server;
  }

  /** Writes the certificate that the registry trusts into the folder. */
  static async start(folder: string): Promise<TokenServer> {
    const authority = createCertificateAuthority({ clock: systemClock, random: systemRandom, commonName: issuer });
    const bundle = join(folder, "token-ca.pem");
    writeFileSync(bundle, authority.certificate);
    const server = createServer((request, response) => tokens.#answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const realm = `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
    const signer = authority.issueClient({ commonName: issuer });
    const tokens = new TokenServer({ token: { realm, service, issuer, rootcertbundle: bundle } }, signer, server);
    return tokens;
  }

  token(repository: string, actions: readonly string[]): string {
    const now = Math.floor(systemClock.now() / 1_000);
    const chain = new X509Certificate(this.#signer.certificate).raw.toString("base64");
    const header = { typ: "JWT", alg: "ES256", x5c: [chain] };
    const access = [{ type: "repository", name: repository, actions }];
    const claims = {
      iss: issuer,
      sub: username,
      aud: service,
      exp: now + 60,
      nbf: now - 60,
      iat: now,
      jti: "1",
      access,
    };
    const content = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
    const key = { key: this.#signer.key, dsaEncoding: "ieee-p1363" } as const;
    return `${content}.${sign("sha256", Buffer.from(content), key).toString("base64url")}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer({ url = "", headers }: IncomingMessage, response: ServerResponse): void {
    const scope = new URL(url, "http://localhost").searchParams.get("scope") ?? "";
    const [, repository = "", actions = ""] = scope.split(":");
    if (headers.authorization !== basicLogin) response.writeHead(401).end();
    else response.end(JSON.stringify({ token: this.token(repository, actions.split(",")) }));
  }
}
