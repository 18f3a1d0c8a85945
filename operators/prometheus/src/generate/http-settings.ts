/** Credentials, TLS and proxies in the words of Prometheus. */
import type { Authorization, BasicAuth, OAuth2, Proxy, Sigv4, Tls } from "../kind/http-client.ts";
import type { KeySelector, SecretOrConfigMap } from "../kind/references.ts";
import { assetKey, assetOf, tlsAssetFile, tlsAssetsFolder } from "./assets.ts";
import { field, filled, type Generation, given, has, report, type Section, since, sorted } from "./generation.ts";

/** The value of a key of a Secret; a missing one is reported. */
export function secretValue(
  generation: Generation,
  namespace: string,
  selector: KeySelector | undefined,
  path: string,
): string | undefined {
  const value = generation.assets.secret(namespace, selector);
  if (value === undefined) {
    const { name = "", key = "" } = selector ?? {};
    report(generation, path, `key "${key}" of Secret "${namespace}/${name}" is missing; create it`);
  }
  return value;
}

export function basicAuth(generation: Generation, namespace: string, auth: BasicAuth | undefined): Section {
  if (auth === undefined) return {};
  const username = secretValue(generation, namespace, auth.username, "basicAuth.username") ?? "";
  const password = secretValue(generation, namespace, auth.password, "basicAuth.password") ?? "";
  return { basic_auth: { username, password } };
}

export function authorization(generation: Generation, namespace: string, auth: Authorization | undefined): Section {
  if (auth === undefined) return {};
  const credentials =
    auth.credentials === undefined
      ? undefined
      : secretValue(generation, namespace, auth.credentials, "authorization.credentials");
  return since(generation, "2.26.0", "authorization", {
    type: (given(auth.type) ?? "Bearer").trim(),
    ...field("credentials", credentials),
    ...field("credentials_file", given(auth.credentialsFile)),
  });
}

/** The fields of a client that scrapes targets; its TLS and authorization have those of the class. */
export interface ClientFields extends Proxy {
  readonly authorization?: Authorization | undefined;
  readonly basicAuth?: BasicAuth | undefined;
  readonly oauth2?: OAuth2 | undefined;
  readonly bearerTokenSecret?: KeySelector | undefined;
  readonly bearerTokenFile?: string | undefined;
  readonly tlsConfig?: Tls | undefined;
  readonly followRedirects?: boolean | undefined;
  readonly enableHttp2?: boolean | undefined;
}

/** All of a client that scrapes. */
export function scrapeClient(generation: Generation, namespace: string, fields: ClientFields): Section {
  return {
    ...since(generation, "2.26.0", "follow_redirects", fields.followRedirects),
    ...since(generation, "2.35.0", "enable_http2", fields.enableHttp2),
    ...proxyConfig(generation, namespace, fields),
    ...oauth2(generation, namespace, fields.oauth2),
    ...tlsConfig(generation, namespace, fields.tlsConfig),
    ...field("bearer_token_file", given(fields.bearerTokenFile)),
    ...bearerToken(generation, namespace, fields.bearerTokenSecret),
    ...basicAuth(generation, namespace, fields.basicAuth),
    ...authorization(generation, namespace, fields.authorization),
  };
}

/** A token in a Secret, the oldest form. */
export function bearerToken(generation: Generation, namespace: string, token: KeySelector | undefined): Section {
  if (token === undefined || (token.name ?? "") === "") return {};
  return field("bearer_token", secretValue(generation, namespace, token, "bearerTokenSecret"));
}

export function tlsConfig(generation: Generation, namespace: string, tls: Tls | undefined): Section {
  if (tls === undefined) return {};
  const file = (reference: SecretOrConfigMap | undefined): string | undefined => {
    const asset = assetOf(namespace, reference ?? {});
    return asset === undefined ? undefined : `${tlsAssetsFolder}/${tlsAssetFile(asset)}`;
  };
  const key = tls.keySecret === undefined ? undefined : tlsAssetFile(assetKey("Secret", namespace, tls.keySecret));
  return {
    tls_config: {
      ...field("insecure_skip_verify", tls.insecureSkipVerify),
      ...field("ca_file", file(tls.ca)),
      ...field("cert_file", file(tls.cert)),
      ...field("key_file", key === undefined ? undefined : `${tlsAssetsFolder}/${key}`),
      ...field("server_name", given(tls.serverName)),
      ...since(generation, "2.35.0", "min_version", tls.minVersion),
      ...since(generation, "2.41.0", "max_version", tls.maxVersion),
      ...field("ca_file", given(tls.caFile)),
      ...field("cert_file", given(tls.certFile)),
      ...field("key_file", given(tls.keyFile)),
    },
  };
}

export function proxyConfig(generation: Generation, namespace: string, proxy: Proxy): Section {
  const headers = Object.entries(proxy.proxyConnectHeader ?? {}).map(
    ([name, values]) => [name, values.map((value) => generation.assets.secret(namespace, value) ?? "")] as const,
  );
  return {
    ...field("proxy_url", proxy.proxyUrl),
    ...since(generation, "2.43.0", "no_proxy", proxy.noProxy),
    ...since(generation, "2.43.0", "proxy_from_environment", proxy.proxyFromEnvironment),
    ...(proxy.proxyConnectHeader === undefined
      ? {}
      : since(generation, "2.43.0", "proxy_connect_header", sorted(Object.fromEntries(headers)))),
  };
}

export function oauth2(generation: Generation, namespace: string, auth: OAuth2 | undefined): Section {
  if (auth === undefined) return {};
  const clientId = generation.assets.secretOrConfigMap(namespace, auth.clientId);
  if (clientId === undefined) {
    report(generation, "oauth2.clientId", "the key that it names is missing; create it");
    return {};
  }
  const clientSecret = secretValue(generation, namespace, auth.clientSecret, "oauth2.clientSecret");
  if (clientSecret === undefined) return {};
  const reachesProxies = has(generation, "2.43.0");
  return since(generation, "2.27.0", "oauth2", {
    client_id: clientId,
    client_secret: clientSecret,
    token_url: auth.tokenUrl,
    ...field("scopes", filled(auth.scopes)),
    ...field("endpoint_params", Object.keys(auth.endpointParams ?? {}).length === 0 ? undefined : auth.endpointParams),
    ...(reachesProxies ? proxyConfig(generation, namespace, auth) : {}),
    ...(reachesProxies ? tlsConfig(generation, namespace, auth.tlsConfig) : {}),
  });
}

export function sigv4(generation: Generation, namespace: string, minimum: string, auth: Sigv4 | undefined): Section {
  if (auth === undefined) return {};
  const { accessKey, secretKey } = auth;
  const isByKeys = accessKey !== undefined && secretKey !== undefined;
  const access = isByKeys ? secretValue(generation, namespace, accessKey, "sigv4.accessKey") : undefined;
  const secret = isByKeys ? secretValue(generation, namespace, secretKey, "sigv4.secretKey") : undefined;
  const keys = given(access) === undefined || given(secret) === undefined ? [undefined, undefined] : [access, secret];
  return since(generation, minimum, "sigv4", {
    ...field("region", given(auth.region)),
    ...field("access_key", keys[0]),
    ...field("secret_key", keys[1]),
    ...field("profile", given(auth.profile)),
    ...field("role_arn", given(auth.roleArn)),
    ...since(generation, "3.11.0", "external_id", given(auth.externalId)),
    ...since(generation, "2.54.0", "use_fips_sts_endpoint", auth.useFIPSSTSEndpoint),
  });
}
