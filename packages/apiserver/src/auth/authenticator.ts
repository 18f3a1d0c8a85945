/**
 * Authenticates a request: client certificate, then bearer token, then anonymous; and applies impersonation.
 */
import { ApiError, failure, type UserInfo } from "@setpoint/apimachinery";
import type { Authorizer, RequestAttributes } from "../request/request-attributes.ts";
import type { Authenticate, CertificateSubject, Credentials } from "./credentials.ts";
import { forbidden } from "./forbidden-message.ts";
import type { ServiceAccountTokens } from "./service-account-tokens.ts";

/** The credentials that the server accepts, and who may impersonate others. */
export interface AuthenticatorOptions {
  /** Absent: tokens of service accounts are not accepted. */
  readonly serviceAccountTokens?: ServiceAccountTokens;
  /** Users by fixed tokens. */
  readonly staticTokens?: ReadonlyMap<string, UserInfo>;
  /** Whether requests without credentials are `system:anonymous`; default true. */
  readonly anonymous?: boolean;
  /** Authorizes the verb `impersonate`; absent: impersonation is forbidden. */
  readonly authorizer?: Authorizer;
}

const authenticatedGroup = "system:authenticated";
const unauthenticatedGroup = "system:unauthenticated";
const anonymousUser: UserInfo = { username: "system:anonymous", groups: [unauthenticatedGroup] };

/** Creates the function that `serve` calls for every request. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  return (credentials) => {
    const user = identify(options, credentials);
    return credentials.headers["impersonate-user"] === undefined && !hasImpersonation(credentials)
      ? user
      : impersonate(options.authorizer, user, credentials);
  };
}

function identify(options: AuthenticatorOptions, { certificate, headers }: Credentials): UserInfo {
  if (certificate === "unknown") throw unauthorized();
  if (certificate !== undefined) return userOfCertificate(certificate);
  const token = bearerToken(first(headers["authorization"]));
  if (token !== undefined) return userOfToken(options, token) ?? refuse();
  return options.anonymous === false ? refuse() : anonymousUser;
}

function userOfCertificate({ commonName, organizations, fingerprint }: CertificateSubject): UserInfo {
  const groups = withGroup(organizations, authenticatedGroup);
  const extra = { "authentication.kubernetes.io/credential-id": [`X509SHA256=${fingerprint}`] };
  return { username: commonName, groups, ...(fingerprint === undefined ? {} : { extra }) };
}

/** The user of a bearer token; undefined for an unknown one. */
export function userOfToken(options: AuthenticatorOptions, token: string): UserInfo | undefined {
  const fixed = options.staticTokens?.get(token);
  if (fixed !== undefined) return { ...fixed, groups: withGroup(fixed.groups, authenticatedGroup) };
  return options.serviceAccountTokens?.authenticate(token)?.user;
}

function bearerToken(authorization: string | undefined): string | undefined {
  const match = authorization === undefined ? null : /^bearer\s+(\S+)$/i.exec(authorization);
  return match?.[1];
}

function withGroup(groups: readonly string[], group: string): readonly string[] {
  return groups.includes(group) ? groups : [...groups, group];
}

function refuse(): never {
  throw unauthorized();
}

function unauthorized(): ApiError {
  return new ApiError(failure(401, "Unauthorized", "Unauthorized"));
}

function first(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === "string" || value === undefined ? value : value[0];
}

/** Node joins repeated headers with a comma. */
function all(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === "string" ? value.split(/,\s*/) : value;
}

const extraPrefix = "impersonate-extra-";

function hasImpersonation({ headers }: Credentials): boolean {
  for (const name in headers) if (name.startsWith("impersonate-")) return true;
  return false;
}

interface Pretence {
  readonly username: string;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** A key with invalid percent-encoding is used as it is, like upstream. */
function unescaped(key: string): string {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
}

function readPretence({ headers }: Credentials): Pretence {
  const extra: Record<string, readonly string[]> = {};
  for (const name in headers) {
    if (name.startsWith(extraPrefix)) extra[unescaped(name.slice(extraPrefix.length))] = all(headers[name]);
  }
  return {
    username: first(headers["impersonate-user"]) ?? "",
    uid: first(headers["impersonate-uid"]),
    groups: all(headers["impersonate-group"]),
    extra,
  };
}

function impersonate(authorizer: Authorizer | undefined, user: UserInfo, credentials: Credentials): UserInfo {
  const wanted = readPretence(credentials);
  if (wanted.username === "") throw withoutUser(wanted);
  for (const target of targetsOf(wanted)) {
    const attributes: RequestAttributes = { ...target, user, verb: "impersonate", isResourceRequest: true, path: "" };
    const decision = authorizer?.authorize(attributes) ?? { allowed: false };
    if (!decision.allowed) throw forbidden(attributes, decision.reason);
  }
  return {
    username: wanted.username,
    ...(wanted.uid === undefined ? {} : { uid: wanted.uid }),
    groups: groupsOf(wanted),
    ...(Object.keys(wanted.extra).length === 0 ? {} : { extra: wanted.extra }),
  };
}

type Target = Pick<RequestAttributes, "group" | "version" | "resource" | "subresource" | "namespace" | "name">;

function targetsOf({ username, uid, groups, extra }: Pretence): readonly Target[] {
  const core = { group: "", version: "v1", subresource: "", namespace: "" };
  const authentication = { ...core, group: "authentication.k8s.io" };
  const account = serviceAccountOf(username);
  return [
    account === undefined
      ? { ...core, resource: "users", name: username }
      : { ...core, resource: "serviceaccounts", ...account },
    ...groups.map((name) => ({ ...core, resource: "groups", name })),
    ...(uid === undefined ? [] : [{ ...authentication, resource: "uids", name: uid }]),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ ...authentication, resource: "userextras", subresource: key, name })),
    ),
  ];
}

function serviceAccountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [system, kind, namespace, name, ...more] = username.split(":");
  if (system !== "system" || kind !== "serviceaccount" || more.length > 0) return undefined;
  return namespace === undefined || name === undefined ? undefined : { namespace, name };
}

function groupsOf({ username, groups }: Pretence): readonly string[] {
  if (username === anonymousUser.username) return withGroup(groups, unauthenticatedGroup);
  const account = serviceAccountOf(username);
  const own =
    account !== undefined && groups.length === 0
      ? ["system:serviceaccounts", `system:serviceaccounts:${account.namespace}`]
      : groups;
  return own.includes(unauthenticatedGroup) ? own : withGroup(own, authenticatedGroup);
}

function withoutUser(wanted: Pretence): ApiError {
  const groups = wanted.groups.map((group) => JSON.stringify(group)).join(", ");
  const message = `requested impersonation of groups [${groups}] without impersonating a user name`;
  return new ApiError(failure(400, "BadRequest", message));
}
