/**
 * Who sends a request to the kubelet server and what it may do: the API server decides both, as for any
 * kubelet.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { SubjectAccessReview, TokenReview, type UserInfo } from "@setpoint/api";
import type { Client } from "@setpoint/client";
import type { Clock } from "@setpoint/host";
import { ExpiringCache } from "./expiring-cache.ts";
import { nodeAttributes } from "./node-attributes.ts";

export type RequestUser = UserInfo & { readonly username: string };

export interface Refusal {
  readonly status: 401 | 403 | 429;
  readonly text: string;
}

/** A revoked right or token still works for this long. */
const cacheMs = 10_000;
const cacheEntriesMax = 1_000;
/** Clients with forged tokens must not keep the API server busy. */
const tokenReviewsMax = 16;
const tokenLengthMax = 16_384;

/** Authenticates by client certificate or bearer token, and authorizes by SubjectAccessReview of the Node. */
export class RequestAccess {
  readonly #client: Client;
  readonly #nodeName: string;
  readonly #tokens: ExpiringCache<RequestUser | undefined>;
  readonly #decisions: ExpiringCache<boolean>;
  #tokenReviews = 0;

  constructor(clock: Clock, client: Client, nodeName: string) {
    this.#client = client;
    this.#nodeName = nodeName;
    this.#tokens = new ExpiringCache({ clock, ttlMs: cacheMs, entriesMax: cacheEntriesMax });
    this.#decisions = new ExpiringCache({ clock, ttlMs: cacheMs, entriesMax: cacheEntriesMax });
  }

  /** The user of the request, or the reason to refuse it. Rejects when the API server does not answer. */
  async authenticate(request: IncomingMessage): Promise<RequestUser | Refusal> {
    const user = certificateUser(request.socket as TLSSocket);
    if (user !== undefined) return user;
    const token = bearerToken(request);
    if (token === undefined) return unauthorized;
    const key = createHash("sha256").update(token).digest("base64");
    if (this.#tokenReviews >= tokenReviewsMax) return { status: 429, text: "Too many requests" };
    return (await this.#tokens.get(key, () => this.#reviewToken(token))) ?? unauthorized;
  }

  /** Undefined when the user is allowed. Rejects when the API server does not answer. */
  async authorize(user: RequestUser, method: string, root: string): Promise<Refusal | undefined> {
    const { verb, subresources } = nodeAttributes(method, root);
    for (const subresource of subresources) if (await this.#mayUse(user, verb, subresource)) return undefined;
    const what = `verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(" ")}]`;
    return { status: 403, text: `Forbidden (user=${user.username}, ${what})\n` };
  }

  async #reviewToken(token: string): Promise<RequestUser | undefined> {
    this.#tokenReviews++;
    try {
      const { status } = await this.#client.create(TokenReview, TokenReview({ spec: { token } }));
      const { username = "", ...user } = status?.user ?? {};
      return status?.authenticated === true ? { ...user, username } : undefined;
    } finally {
      this.#tokenReviews--;
    }
  }

  #mayUse({ username, ...user }: RequestUser, verb: string, subresource: string): Promise<boolean> {
    const resourceAttributes = { verb, version: "v1", resource: "nodes", subresource, name: this.#nodeName };
    const spec = { ...user, user: username, resourceAttributes };
    return this.#decisions.get(JSON.stringify(spec), async () => {
      const { status } = await this.#client.create(SubjectAccessReview, SubjectAccessReview({ spec }));
      return status?.allowed === true;
    });
  }
}

const unauthorized: Refusal = { status: 401, text: "Unauthorized" };

export function isRefusal(answer: RequestUser | Refusal): answer is Refusal {
  return "status" in answer;
}

/** The common name is the user, the organizations are its groups. */
function certificateUser(socket: TLSSocket): RequestUser | undefined {
  if (!socket.authorized) return undefined;
  // An array when the subject names several, which the types do not say.
  const subject = socket.getPeerCertificate().subject as Readonly<Record<string, unknown>> | undefined;
  const username = subject?.["CN"];
  if (typeof username !== "string" || username === "") return undefined;
  const organizations = [subject?.["O"] ?? []].flat().filter((each) => typeof each === "string");
  return { username, groups: [...organizations, "system:authenticated"] };
}

function bearerToken({ headers }: IncomingMessage): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined || token.length > tokenLengthMax ? undefined : token;
}
