/** Servers that a Prometheus talks to: remote write and read, Alertmanagers, the API server, tracing. */
import { intOrString } from "setpoint/kinds";
import { z } from "zod";
import { authorization, basicAuth, oauth2, proxyFields, safeAuthorization, sigv4, tls } from "./http-client.ts";
import { count, flag, open, type Read, text, textMap } from "./open-object.ts";
import { keySelector } from "./references.ts";
import { relabeling } from "./scrape-fields.ts";

const credentialFields = {
  basicAuth: basicAuth.optional(),
  bearerToken: text,
  bearerTokenFile: text,
  authorization: authorization.optional(),
  tlsConfig: tls.optional(),
  ...proxyFields,
};

const azureAd = open({
  cloud: text,
  managedIdentity: open({ clientId: text }).optional(),
  oauth: open({ clientId: z.string(), clientSecret: keySelector, tenantId: z.string() }).optional(),
  sdk: open({ tenantId: text }).optional(),
  workloadIdentity: open({ clientId: z.string(), tenantId: z.string() }).optional(),
  scope: text,
});

const queueConfig = open({
  capacity: count,
  minShards: count,
  maxShards: count,
  maxSamplesPerSend: count,
  batchSendDeadline: text,
  maxRetries: count,
  minBackoff: text,
  maxBackoff: text,
  retryOnRateLimit: flag,
  sampleAgeLimit: text,
});

export const remoteWrite = open({
  url: z.string(),
  name: text,
  messageVersion: text,
  sendExemplars: flag,
  sendNativeHistograms: flag,
  remoteTimeout: text,
  headers: textMap,
  writeRelabelConfigs: z.array(relabeling).optional(),
  oauth2: oauth2.optional(),
  ...credentialFields,
  sigv4: sigv4.optional(),
  azureAd: azureAd.optional(),
  followRedirects: flag,
  queueConfig: queueConfig.optional(),
  metadataConfig: open({ send: flag, sendInterval: text, maxSamplesPerSend: count }).optional(),
  enableHTTP2: flag,
  roundRobinDNS: flag,
});

export const remoteRead = open({
  url: z.string(),
  name: text,
  requiredMatchers: textMap,
  remoteTimeout: text,
  headers: textMap,
  readRecent: flag,
  oauth2: oauth2.optional(),
  ...credentialFields,
  followRedirects: flag,
  filterExternalLabels: flag,
});

export const apiServer = open({ host: z.string(), ...credentialFields });

const alertmanager = open({
  namespace: text,
  name: z.string(),
  port: intOrString(),
  scheme: text,
  pathPrefix: text,
  tlsConfig: tls.optional(),
  basicAuth: basicAuth.optional(),
  bearerTokenFile: text,
  authorization: safeAuthorization.optional(),
  sigv4: sigv4.optional(),
  ...proxyFields,
  apiVersion: text,
  timeout: text,
  enableHttp2: flag,
  relabelings: z.array(relabeling).optional(),
  alertRelabelings: z.array(relabeling).optional(),
});
export const alerting = open({ alertmanagers: z.array(alertmanager) });

export const tracing = open({
  endpoint: z.string(),
  clientType: text,
  samplingFraction: intOrString().optional(),
  insecure: flag,
  headers: textMap,
  compression: text,
  timeout: text,
  tlsConfig: tls.optional(),
});

export type RemoteWrite = Read<typeof remoteWrite>;
export type RemoteRead = Read<typeof remoteRead>;
export type Alertmanager = Read<typeof alertmanager>;
