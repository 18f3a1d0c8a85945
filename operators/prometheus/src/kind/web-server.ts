/** How a server serves its own pages: TLS, headers. */
import { z } from "zod";
import { flag, open, type Read, text, texts } from "./open-object.ts";
import { keySelector, secretOrConfigMap } from "./references.ts";

/** The server's side of TLS: keys of objects, or files of the pod. */
export const serverTls = open({
  cert: secretOrConfigMap.optional(),
  certFile: text,
  keySecret: keySelector.optional(),
  keyFile: text,
  client_ca: secretOrConfigMap.optional(),
  clientCAFile: text,
  clientAuthType: text,
  minVersion: text,
  maxVersion: text,
  cipherSuites: texts,
  preferServerCipherSuites: flag,
  curvePreferences: texts,
});

const headers = open({
  contentSecurityPolicy: text,
  xFrameOptions: z.enum(["", "Deny", "SameOrigin"]).optional(),
  xContentTypeOptions: z.enum(["", "NoSniff"]).optional(),
  xXSSProtection: text,
  strictTransportSecurity: text,
});

export const webFields = {
  tlsConfig: serverTls.optional(),
  httpConfig: open({ http2: flag, headers: headers.optional() }).optional(),
};

const web = open(webFields);

export type ServerTls = Read<typeof serverTls>;
export type WebFields = Read<typeof web>;
