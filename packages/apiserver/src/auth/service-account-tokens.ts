/**
 * Service account tokens: signed with the server's own ES256 key, invalid once their bound object is gone.
 */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from "node:crypto";
import type { UserInfo } from "@setpoint/apimachinery";
import type { Clock, Random } from "@setpoint/host";
import type { ObjectReader } from "../registry/object-reader.ts";

/** The key, issuer and audiences of service account tokens, and where their objects are read. */
export interface ServiceAccountTokensOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly reader: ObjectReader;
  /** PEM of an EC P-256 key; absent: a new one. */
  readonly key?: string;
  /** Default `https://kubernetes.default.svc`. */
  readonly issuer?: string;
  /** Default: the issuer. */
  readonly audiences?: readonly string[];
}

export interface BoundObject {
  readonly kind: "Pod" | "Secret" | "Node";
  readonly name: string;
  readonly uid: string;
}

export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: readonly string[];
  readonly exp: number;
  readonly iat: number;
  readonly nbf: number;
  readonly jti: string;
  readonly "kubernetes.io": {
    readonly namespace: string;
    readonly serviceaccount: { readonly name: string; readonly uid: string };
    readonly pod?: { readonly name: string; readonly uid: string };
    readonly secret?: { readonly name: string; readonly uid: string };
    readonly node?: { readonly name: string; readonly uid: string };
    readonly warnafter?: number;
  };
}

/**
 * A token to issue: its service account, audiences, lifetime in seconds, and the object that it is bound to.
 */
export interface TokenIssue {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly audiences?: readonly string[];
  readonly expirationSeconds: number;
  readonly bound?: BoundObject;
  /** The node of the pod that the token is bound to, which the token then names too. */
  readonly node?: { readonly name: string; readonly uid: string };
}

/** The user of a valid token and those of its audiences that the verifier accepts. */
export interface VerifiedToken {
  readonly user: UserInfo;
  readonly audiences: readonly string[];
}

/** Signatures that were checked are remembered, so that a client's requests cost no elliptic curves. */
const verifiedTokensMax = 4_096;
/** A pod may use its tokens while it ends; its deletionTimestamp already includes its grace period. */
const deletedLeewayMs = 60_000;

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * Issues and verifies service account tokens (JWT, ES256). A token is valid until it expires or until its
 * service account or bound object is gone.
 */
export class ServiceAccountTokens {
  readonly issuer: string;
  readonly audiences: readonly string[];
  /** PEM; store it, so that tokens outlive a restart. */
  readonly key: string;
  readonly #options: ServiceAccountTokensOptions;
  readonly #private: KeyObject;
  readonly #public: KeyObject;
  readonly #keyId: string;
  readonly #verified = new Map<string, TokenClaims>();

  constructor(options: ServiceAccountTokensOptions) {
    this.#options = options;
    this.issuer = options.issuer ?? "https://kubernetes.default.svc";
    this.audiences = options.audiences ?? [this.issuer];
    this.#private =
      options.key === undefined
        ? generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey
        : createPrivateKey(options.key);
    this.key = this.#private.export({ type: "pkcs8", format: "pem" });
    this.#public = createPublicKey(this.#private);
    const spki = this.#public.export({ type: "spki", format: "der" });
    this.#keyId = createHash("sha256").update(spki).digest("base64url");
  }

  /** The public key as a JSON Web Key Set. */
  get jwks(): { readonly keys: readonly Readonly<Record<string, unknown>>[] } {
    const { kty, crv, x, y } = this.#public.export({ format: "jwk" });
    return { keys: [{ use: "sig", kty, kid: this.#keyId, crv, alg: "ES256", x, y }] };
  }

  issue(issue: TokenIssue): { readonly token: string; readonly expiresAtMs: number } {
    const now = Math.floor(this.#options.clock.now() / 1000);
    const { namespace, name, uid, bound, node } = issue;
    const claims: TokenClaims = {
      aud: issue.audiences ?? this.audiences,
      exp: now + issue.expirationSeconds,
      iat: now,
      iss: this.issuer,
      jti: this.#options.random.uuid(),
      "kubernetes.io": {
        namespace,
        ...(bound === undefined ? {} : { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
        ...(node === undefined ? {} : { node }),
        serviceaccount: { name, uid },
      },
      nbf: now,
      sub: `system:serviceaccount:${namespace}:${name}`,
    };
    const content = `${encode({ alg: "ES256", kid: this.#keyId })}.${encode(claims)}`;
    const signature = sign("sha256", Buffer.from(content), { key: this.#private, dsaEncoding: "ieee-p1363" });
    return { token: `${content}.${signature.toString("base64url")}`, expiresAtMs: claims.exp * 1000 };
  }

  /** The user of a token that is ours, valid now, for one of the audiences, and whose objects still exist. */
  authenticate(token: string, audiences: readonly string[] = this.audiences): VerifiedToken | undefined {
    const claims = this.#claims(token);
    if (claims === undefined || !this.#isCurrent(claims)) return undefined;
    const common = claims.aud.filter((each) => audiences.includes(each));
    if (common.length === 0 || !this.#isBoundToLiving(claims)) return undefined;
    return { user: userOf(claims), audiences: common };
  }

  #claims(token: string): TokenClaims | undefined {
    const known = this.#verified.get(token);
    if (known !== undefined) return known;
    const claims = this.#verify(token);
    if (claims === undefined) return undefined;
    // Evict the oldest: maps keep the order of insertion.
    const oldest = this.#verified.keys().next();
    if (this.#verified.size >= verifiedTokensMax && !oldest.done) this.#verified.delete(oldest.value);
    this.#verified.set(token, claims);
    return claims;
  }

  #verify(token: string): TokenClaims | undefined {
    const [header, payload, signature, ...more] = token.split(".");
    if (header === undefined || payload === undefined || signature === undefined || more.length > 0) return undefined;
    const key = { key: this.#public, dsaEncoding: "ieee-p1363" } as const;
    const content = Buffer.from(`${header}.${payload}`);
    // Only our key and its algorithm count, whatever the header claims.
    if (!verify("sha256", content, key, Buffer.from(signature, "base64url"))) return undefined;
    return JSON.parse(Buffer.from(payload, "base64url").toString("utf8")) as TokenClaims;
  }

  #isCurrent(claims: TokenClaims): boolean {
    const now = this.#options.clock.now() / 1000;
    return claims.iss === this.issuer && claims.nbf <= now && now < claims.exp;
  }

  /** A finalizer may keep a deleted object forever, but its bound tokens become invalid. */
  #isLongDeleted(deletionTimestamp: string | undefined): boolean {
    return (
      deletionTimestamp !== undefined && Date.parse(deletionTimestamp) + deletedLeewayMs < this.#options.clock.now()
    );
  }

  #isBoundToLiving(claims: TokenClaims): boolean {
    const { namespace, serviceaccount, pod, secret, node } = claims["kubernetes.io"];
    const lives = (resource: string, scope: string, ref: { readonly name: string; readonly uid: string }): boolean => {
      const { metadata } = this.#options.reader.get("", resource, scope, ref.name) ?? {};
      return metadata?.uid === ref.uid && !this.#isLongDeleted(metadata.deletionTimestamp);
    };
    return (
      lives("serviceaccounts", namespace, serviceaccount) &&
      (pod === undefined || lives("pods", namespace, pod)) &&
      (secret === undefined || lives("secrets", namespace, secret)) &&
      (node === undefined || pod !== undefined || lives("nodes", "", node))
    );
  }
}

function userOf(claims: TokenClaims): UserInfo {
  const { namespace, serviceaccount, pod, node } = claims["kubernetes.io"];
  const prefix = "authentication.kubernetes.io";
  return {
    username: claims.sub,
    uid: serviceaccount.uid,
    groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
    extra: {
      [`${prefix}/credential-id`]: [`JTI=${claims.jti}`],
      ...(pod === undefined ? {} : { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] }),
      ...(node === undefined ? {} : { [`${prefix}/node-name`]: [node.name], [`${prefix}/node-uid`]: [node.uid] }),
    },
  };
}
