/** Settings of all receivers of an Alertmanager. */
import { z } from "zod";
import { basicAuth, oauth2, proxyFields, safeAuthorization, safeTls } from "./http-client.ts";
import { flag, open, type Read, text } from "./open-object.ts";
import { keySelector } from "./references.ts";

const secret = keySelector.optional();

const smtp = open({
  from: text,
  smartHost: open({ host: z.string(), port: z.string() }).optional(),
  hello: text,
  authUsername: text,
  authPassword: secret,
  authIdentity: text,
  authSecret: secret,
  requireTLS: flag,
  tlsConfig: safeTls.optional(),
  forceImplicitTLS: flag,
});

/** How receivers reach something over HTTP. */
export const receiverHttpFields = {
  authorization: safeAuthorization.optional(),
  basicAuth: basicAuth.optional(),
  oauth2: oauth2.optional(),
  bearerTokenSecret: secret,
  tlsConfig: safeTls.optional(),
  ...proxyFields,
  followRedirects: flag,
  enableHttp2: flag,
};

const withUrl = open({ apiURL: text }).optional();

export const alertmanagerGlobal = open({
  smtp: smtp.optional(),
  resolveTimeout: text,
  httpConfig: open(receiverHttpFields).optional(),
  slackApiUrl: secret,
  opsGenieApiUrl: secret,
  opsGenieApiKey: secret,
  pagerdutyUrl: text,
  telegram: withUrl,
  jira: withUrl,
  victorops: open({ apiURL: text, apiKey: secret }).optional(),
  rocketChat: open({ apiURL: text, token: secret, tokenID: secret }).optional(),
  webex: withUrl,
  wechat: open({ apiURL: text, apiSecret: secret, apiCorpID: text }).optional(),
  mattermost: open({ webhookURL: secret }).optional(),
});

export type AlertmanagerGlobal = Read<typeof alertmanagerGlobal>;
