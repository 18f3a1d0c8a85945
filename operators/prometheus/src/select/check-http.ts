/** Credentials, TLS and proxies that contradict themselves, or that name keys which do not exist. */
import { assetOf, assetKey, type AssetKey } from "../generate/assets.ts";
import type { Authorization, BasicAuth, OAuth2, Proxy, Tls } from "../kind/http-client.ts";
import type { KeySelector, SecretOrConfigMap } from "../kind/references.ts";
import { firstRefusal, refuse, type Refusal, within } from "./refusal.ts";

/** The fields of an endpoint that the checks read. */
export interface HttpFields extends Proxy {
  readonly authorization?: Authorization | undefined;
  readonly basicAuth?: BasicAuth | undefined;
  readonly oauth2?: OAuth2 | undefined;
  readonly bearerTokenSecret?: KeySelector | undefined;
  readonly tlsConfig?: Tls | undefined;
}

const methods = ["authorization", "basicAuth", "bearerTokenSecret", "oauth2"] as const;

export function checkHttp(fields: HttpFields): Refusal | undefined {
  const used = methods.filter((method) => fields[method] !== undefined);
  const [first, second] = used;
  if (first !== undefined && second !== undefined)
    return refuse(second, `it cannot be combined with ${first}; use one of them`);
  return firstRefusal([
    within("authorization", checkAuthorization(fields.authorization)),
    within("oauth2", checkOAuth2(fields.oauth2)),
    within("tlsConfig", checkTls(fields.tlsConfig)),
    checkProxy(fields),
  ]);
}

function checkAuthorization(auth: Authorization | undefined): Refusal | undefined {
  if (auth === undefined) return undefined;
  if (auth.type?.trim().toLowerCase() === "basic") return refuse("type", '"basic" is not possible; use basicAuth');
  return auth.credentials === undefined ? refuse("credentials", "expected a key of a Secret") : undefined;
}

function checkOAuth2(auth: OAuth2 | undefined): Refusal | undefined {
  if (auth === undefined) return undefined;
  if (auth.tokenUrl === "") return refuse("tokenUrl", "expected a URL");
  if (auth.clientId.secret === undefined && auth.clientId.configMap === undefined)
    return refuse("clientId", "expected a key of a Secret or of a ConfigMap");
  return firstRefusal([
    within("clientId", checkReference(auth.clientId)),
    within("tlsConfig", checkTls(auth.tlsConfig)),
    checkProxy(auth),
  ]);
}

function checkReference(reference: SecretOrConfigMap | undefined): Refusal | undefined {
  const isBoth = reference?.secret !== undefined && reference.configMap !== undefined;
  return isBoth ? refuse("configMap", "it cannot be combined with secret; use one of them") : undefined;
}

function isGiven(reference: SecretOrConfigMap | undefined): boolean {
  return reference?.secret !== undefined || reference?.configMap !== undefined;
}

export function checkTls(tls: Tls | undefined): Refusal | undefined {
  if (tls === undefined) return undefined;
  const { caFile = "", certFile = "", keyFile = "", keySecret, minVersion, maxVersion } = tls;
  const hasCertificate = isGiven(tls.cert) || certFile !== "";
  const hasKey = keySecret !== undefined || keyFile !== "";
  const isTwice = (field: string, reference: boolean, file: string): Refusal | undefined =>
    reference && file !== ""
      ? refuse(field, "both a file and a key of an object are given; use one of them")
      : undefined;
  return firstRefusal([
    within("ca", checkReference(tls.ca)),
    within("cert", checkReference(tls.cert)),
    minVersion !== undefined && maxVersion !== undefined && maxVersion < minVersion
      ? refuse("maxVersion", `expected at least minVersion "${minVersion}", got "${maxVersion}"`)
      : undefined,
    isTwice("caFile", isGiven(tls.ca), caFile),
    isTwice("certFile", isGiven(tls.cert), certFile),
    isTwice("keyFile", keySecret !== undefined, keyFile),
    hasCertificate && !hasKey ? refuse("keySecret", "the certificate of the client has no key") : undefined,
    hasKey && !hasCertificate ? refuse("cert", "the key of the client has no certificate") : undefined,
  ]);
}

function checkProxy(proxy: Proxy): Refusal | undefined {
  const { proxyUrl = "", noProxy = "", proxyFromEnvironment = false, proxyConnectHeader = {} } = proxy;
  const hasHeaders = Object.keys(proxyConnectHeader).length > 0;
  if (hasHeaders && proxyUrl === "" && !proxyFromEnvironment)
    return refuse("proxyConnectHeader", "it needs proxyUrl or proxyFromEnvironment: true");
  if (proxyFromEnvironment && proxyUrl !== "")
    return refuse("proxyUrl", "it cannot be combined with proxyFromEnvironment: true");
  if (proxyFromEnvironment && noProxy !== "")
    return refuse("noProxy", "it cannot be combined with proxyFromEnvironment: true");
  if (noProxy !== "" && proxyUrl === "") return refuse("noProxy", "it needs proxyUrl");
  return undefined;
}

/** A key that a field names. */
export interface NamedKey {
  readonly field: string;
  readonly asset: AssetKey;
  /** It need not exist. */
  readonly isOptional: boolean;
}

/** All keys that the fields name, of objects in `namespace`. */
export function keysOf(namespace: string, fields: HttpFields): readonly NamedKey[] {
  const { authorization, basicAuth, bearerTokenSecret, oauth2, tlsConfig } = fields;
  const secret = (field: string, selector: KeySelector | undefined): readonly NamedKey[] =>
    selector === undefined || (selector.name ?? "") === ""
      ? []
      : [{ field, asset: assetKey("Secret", namespace, selector), isOptional: selector.optional === true }];
  const reference = (field: string, of: SecretOrConfigMap | undefined): readonly NamedKey[] => {
    const asset = assetOf(namespace, of ?? {});
    const isOptional = (of?.secret ?? of?.configMap)?.optional === true;
    return asset === undefined ? [] : [{ field, asset, isOptional }];
  };
  const tls = (field: string, of: Tls | undefined): readonly NamedKey[] => [
    ...reference(`${field}.ca`, of?.ca),
    ...reference(`${field}.cert`, of?.cert),
    ...secret(`${field}.keySecret`, of?.keySecret),
  ];
  const headers = (of: Proxy | undefined): readonly NamedKey[] =>
    Object.entries(of?.proxyConnectHeader ?? {}).flatMap(([name, values]) =>
      values.flatMap((value) => secret(`proxyConnectHeader.${name}`, value)),
    );
  return [
    ...secret("bearerTokenSecret", bearerTokenSecret),
    ...secret("basicAuth.username", basicAuth?.username),
    ...secret("basicAuth.password", basicAuth?.password),
    ...tls("tlsConfig", tlsConfig),
    ...reference("oauth2.clientId", oauth2?.clientId),
    ...secret("oauth2.clientSecret", oauth2?.clientSecret),
    ...tls("oauth2.tlsConfig", oauth2?.tlsConfig),
    ...headers(oauth2),
    ...secret("authorization.credentials", authorization?.credentials),
    ...headers(fields),
  ];
}
