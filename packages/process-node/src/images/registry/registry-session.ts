/** Requests to one repository of a registry, with what its challenge asks for. */
import { isJsonObject } from "@setpoint/apimachinery";
import { parseChallenge } from "./challenge.ts";
import type { RegistryCredential } from "./pull-credentials.ts";
import { deniedRefusal, pullRefusal } from "./pull-refusal.ts";
import { readBody } from "./read-body.ts";
import { type Asking, fetchFrom, isAllowedTarget, type RegistryAddress } from "./registry-address.ts";

const tokenBytesMax = 1024 * 1024;
/** What a header may hold. */
const tokenPattern = /^[\x21-\x7e]{1,65536}$/;
/** Errors of the distribution specification. Other text of an answer is not shown: it may repeat a secret. */
const knownErrors = [
  ...["BLOB_UNKNOWN", "DENIED", "MANIFEST_UNKNOWN", "NAME_INVALID", "NAME_UNKNOWN", "TOOMANYREQUESTS"],
  ...["UNAUTHORIZED", "UNSUPPORTED"],
];

/** Gets manifests and blobs. The login goes to this registry and to its token service, nowhere else. */
export class RegistrySession {
  readonly #asking: Asking;
  readonly #address: RegistryAddress;
  readonly #credential: RegistryCredential | undefined;
  #authorization: string | undefined;

  constructor(asking: Asking, credential: RegistryCredential | undefined) {
    this.#asking = asking;
    this.#address = asking.registry;
    this.#credential = credential;
  }

  /** `path` follows the repository: `manifests/1.2`. Rejects with ERR_IMAGE_DENIED or ERR_IMAGE_PULL. */
  async get(path: string, accept: readonly string[] = []): Promise<Response> {
    const url = new URL(`/v2/${this.#address.repository}/${path}`, this.#address.origin);
    let response = await this.#send(url, accept);
    if (response.status === 401 && this.#authorization === undefined) {
      await response.body?.cancel();
      this.#authorization = await this.#authorize(response.headers.get("www-authenticate") ?? "");
      response = await this.#send(url, accept);
    }
    if (response.status === 200) return response;
    throw await this.#refusal(response, path);
  }

  #send(url: URL, accept: readonly string[]): Promise<Response> {
    // Content that a server compresses on the way would have another digest.
    const headers = { accept: accept.join(", ") || "*/*", "accept-encoding": "identity" };
    const authorization = this.#authorization === undefined ? {} : { authorization: this.#authorization };
    return fetchFrom(this.#asking, url, { ...headers, ...authorization });
  }

  async #authorize(header: string): Promise<string | undefined> {
    const challenge = parseChallenge(header);
    if (challenge?.scheme === "basic") return this.#basic();
    if (challenge?.scheme === "bearer") return `Bearer ${await this.#token(challenge.parameters)}`;
    throw pullRefusal(`registry "${this.#address.name}" asks for a login that is neither Basic nor Bearer`);
  }

  #basic(): string | undefined {
    if (this.#credential === undefined) return undefined;
    const { username, password } = this.#credential;
    return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
  }

  async #token({ realm = "", service }: Readonly<Record<string, string>>): Promise<string> {
    const { name, repository } = this.#address;
    const url = URL.parse(realm);
    if (url === null || !isAllowedTarget(url, this.#address))
      throw pullRefusal(`registry "${name}" asks for a token of an address that is not allowed`);
    if (service !== undefined) url.searchParams.set("service", service);
    url.searchParams.set("scope", `repository:${repository}:pull`);
    const basic = this.#basic();
    const headers = basic === undefined ? {} : { authorization: basic };
    const response = await fetchFrom(this.#asking, url, headers);
    if (response.status === 200) return tokenIn(name, await readBody(response, tokenBytesMax, "token"));
    throw await this.#refusal(response, "token");
  }

  async #refusal(response: Response, path: string): Promise<Error> {
    const { status } = response;
    const code = await errorCode(response);
    const why = `registry "${this.#address.name}" answers ${path === "token" ? "the request for a token" : `for ${path}`} with ${status}${code}`;
    if (status !== 401 && status !== 403) return pullRefusal(why);
    const login =
      this.#credential === undefined ? "without a login; name a Secret in imagePullSecrets" : "to this login";
    return deniedRefusal(`${why}: it does not give the image ${login}`);
  }
}

function tokenIn(name: string, body: Buffer): string {
  const answer = parsed(body);
  const token = isJsonObject(answer) ? (answer["token"] ?? answer["access_token"]) : undefined;
  if (typeof token === "string" && tokenPattern.test(token)) return token;
  throw pullRefusal(`registry "${name}" gives no token`);
}

async function errorCode(response: Response): Promise<string> {
  const body = await readBody(response, tokenBytesMax, "answer").catch(() => Buffer.from(""));
  const answer = parsed(body);
  const errors = isJsonObject(answer) && Array.isArray(answer["errors"]) ? (answer["errors"] as unknown[]) : [];
  const codes = errors.map((each) => (isJsonObject(each) ? each["code"] : undefined));
  const known = knownErrors.find((code) => codes.includes(code));
  return known === undefined ? "" : ` ${known}`;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8")) as unknown;
  } catch {
    return undefined;
  }
}
