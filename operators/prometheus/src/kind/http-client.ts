/** How Prometheus reaches something over HTTP: credentials, TLS, proxies. */
import { z } from "zod";
import { flag, open, type Read, text, textMap, texts } from "./open-object.ts";
import { keySelector, secretOrConfigMap } from "./references.ts";

export const basicAuth = open({ username: keySelector.optional(), password: keySelector.optional() });

const safeAuthorizationFields = { type: text, credentials: keySelector.optional() };
export const safeAuthorization = open(safeAuthorizationFields);
/** That of a Prometheus may name files of its pod. */
export const authorization = open({ ...safeAuthorizationFields, credentialsFile: text });

const safeTlsFields = {
  ca: secretOrConfigMap.optional(),
  cert: secretOrConfigMap.optional(),
  keySecret: keySelector.optional(),
  serverName: text,
  insecureSkipVerify: flag,
  minVersion: text,
  maxVersion: text,
};
export const safeTls = open(safeTlsFields);
export const tls = open({ ...safeTlsFields, caFile: text, certFile: text, keyFile: text });

export const proxyFields = {
  proxyUrl: text,
  noProxy: text,
  proxyFromEnvironment: flag,
  proxyConnectHeader: z.record(z.string(), z.array(keySelector)).optional(),
};
const proxy = open(proxyFields);

export const oauth2 = open({
  clientId: secretOrConfigMap,
  clientSecret: keySelector,
  tokenUrl: z.string(),
  scopes: texts,
  endpointParams: textMap,
  tlsConfig: safeTls.optional(),
  ...proxyFields,
});

export const sigv4 = open({
  region: text,
  accessKey: keySelector.optional(),
  secretKey: keySelector.optional(),
  profile: text,
  roleArn: text,
  externalId: text,
  useFIPSSTSEndpoint: flag,
});

/** The fields of something that is scraped, without its proxy. */
export const accessFields = {
  authorization: safeAuthorization.optional(),
  basicAuth: basicAuth.optional(),
  oauth2: oauth2.optional(),
  bearerTokenSecret: keySelector.optional(),
  followRedirects: flag,
  enableHttp2: flag,
};

/** The fields of an endpoint that is scraped. */
export const endpointHttpFields = { ...accessFields, ...proxyFields };

export type BasicAuth = Read<typeof basicAuth>;
export type Authorization = Read<typeof authorization>;
export type Tls = Read<typeof tls>;
export type Proxy = Read<typeof proxy>;
export type OAuth2 = Read<typeof oauth2>;
export type Sigv4 = Read<typeof sigv4>;
