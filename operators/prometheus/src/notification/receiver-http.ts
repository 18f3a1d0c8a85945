/** How receivers reach something over HTTP, in the words of Alertmanager; pure. */
import { assetKey, assetOf, tlsAssetFile } from "../generate/assets.ts";
import { field, filled, given, type Section, sorted } from "../generate/generation.ts";
import { isAtLeast } from "../generate/version.ts";
import type { ReceiverHttp } from "../kind/alertmanager-config.ts";
import type { OAuth2, Proxy, Tls } from "../kind/http-client.ts";
import type { SecretOrConfigMap } from "../kind/references.ts";
import { checkHttp } from "../select/check-http.ts";
import { at, type Place, refuseAt, secretOf } from "./place.ts";

/** Where the files of TLS are in the pod. */
export const receiverTlsFolder = "/etc/alertmanager/certs";

export function httpSection(place: Place, http: ReceiverHttp): Section {
  const refusal = checkHttp(http);
  if (refusal !== undefined) throw refuseAt(at(place, refusal.field), refusal.message);
  const proxy = proxySection(place, http);
  return {
    ...authorizationSection(place, http),
    ...basicAuthSection(place, http),
    ...(http.oauth2 === undefined ? {} : { oauth2: oauth2Section(at(place, "oauth2"), http.oauth2) }),
    ...(http.bearerTokenSecret === undefined
      ? {}
      : field("bearer_token", given(secretOf(at(place, "bearerTokenSecret"), http.bearerTokenSecret)))),
    ...(http.tlsConfig === undefined ? {} : { tls_config: tlsSection(place, http.tlsConfig) }),
    ...field("follow_redirects", http.followRedirects),
    ...field("enable_http2", http.enableHttp2),
    ...proxy,
    // The older spelling of the field wins.
    ...field("proxy_url", given(http.proxyURL) ?? proxy["proxy_url"]),
  };
}

function authorizationSection(place: Place, { authorization }: ReceiverHttp): Section {
  const path = at(place, "authorization");
  if (authorization === undefined) return {};
  requireVersion(path, "0.22.0");
  if (authorization.credentials === undefined) throw refuseAt(at(path, "credentials"), "expected a key of a Secret");
  const credentials = secretOf(at(path, "credentials"), authorization.credentials);
  return credentials === "" ? {} : { authorization: { type: given(authorization.type) ?? "Bearer", credentials } };
}

function basicAuthSection(place: Place, { basicAuth }: ReceiverHttp): Section {
  if (basicAuth === undefined) return {};
  const path = at(place, "basicAuth");
  const username = secretOf(at(path, "username"), basicAuth.username ?? { key: "" });
  const password = secretOf(at(path, "password"), basicAuth.password ?? { key: "" });
  if (username === "" && password === "") return {};
  return { basic_auth: { ...field("username", given(username)), ...field("password", given(password)) } };
}

function requireVersion(place: Place, minimum: string): void {
  if (!isAtLeast(place.version, minimum)) throw refuseAt(place, `it needs Alertmanager ${minimum} or newer`);
}

function oauth2Section(place: Place, auth: OAuth2): Section {
  requireVersion(place, "0.22.0");
  const clientId = place.assets.secretOrConfigMap(place.namespace, auth.clientId);
  if (clientId === undefined) throw refuseAt(at(place, "clientId"), "the key that it names does not exist; create it");
  const params = Object.keys(auth.endpointParams ?? {}).length === 0 ? undefined : auth.endpointParams;
  return {
    client_id: clientId,
    client_secret: secretOf(at(place, "clientSecret"), auth.clientSecret),
    ...field("scopes", filled(auth.scopes)),
    token_url: auth.tokenUrl,
    ...field("endpoint_params", params),
    ...proxySection(place, auth),
  };
}

function proxySection(place: Place, proxy: Proxy): Section {
  const headers = Object.entries(proxy.proxyConnectHeader ?? {}).map(
    ([name, keys]) => [name, keys.map((key) => secretOf(at(place, `proxyConnectHeader.${name}`), key))] as const,
  );
  return {
    ...field("proxy_url", given(proxy.proxyUrl)),
    ...field("no_proxy", given(proxy.noProxy)),
    ...(proxy.proxyFromEnvironment === true ? { proxy_from_environment: true } : {}),
    ...(headers.length === 0 ? {} : field("proxy_connect_header", sorted(Object.fromEntries(headers)))),
  };
}

export function tlsSection({ namespace }: Place, tls: Tls): Section {
  const file = (reference: SecretOrConfigMap | undefined): string | undefined => {
    const asset = assetOf(namespace, reference ?? {});
    return asset === undefined ? undefined : `${receiverTlsFolder}/${tlsAssetFile(asset)}`;
  };
  const key = tls.keySecret === undefined ? undefined : tlsAssetFile(assetKey("Secret", namespace, tls.keySecret));
  return {
    ...field("ca_file", file(tls.ca)),
    ...field("cert_file", file(tls.cert)),
    ...field("key_file", key === undefined ? undefined : `${receiverTlsFolder}/${key}`),
    ...field("server_name", given(tls.serverName)),
    insecure_skip_verify: tls.insecureSkipVerify ?? false,
    ...field("min_version", given(tls.minVersion)),
    ...field("max_version", given(tls.maxVersion)),
  };
}
