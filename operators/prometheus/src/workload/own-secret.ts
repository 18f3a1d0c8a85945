/** Secrets that belong to a workload; pure. */
import { gzipSync } from "node:zlib";
import { Secret } from "setpoint/kinds";
import { checkServerTls, webConfiguration } from "./web-server.ts";
import { webConfigFile } from "./names.ts";
import type { WebFields } from "../kind/web-server.ts";

/** Where the objects of a workload are, and how they are known. */
export interface Place {
  readonly namespace: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function base64(data: string | Buffer): string {
  return Buffer.from(data).toString("base64");
}

/** The data are in base64. */
export function ownSecret(place: Place, name: string, data: Readonly<Record<string, string>>): Secret {
  return Secret({ ...place, name, type: "Opaque", data });
}

/** A configuration, compressed as upstream's is, in base64. */
export function compressed(configuration: string): string {
  return base64(gzipSync(configuration));
}

/** Certificates and keys, in clear, that the configuration names as files. */
export function tlsAssetsSecret(place: Place, name: string, files: Readonly<Record<string, string>>): Secret {
  return ownSecret(place, name, Object.fromEntries(Object.entries(files).map(([file, text]) => [file, base64(text)])));
}

/** How the server serves its own pages. Throws `ConfigurationRefused` for TLS that lacks something. */
export function webConfigSecret(place: Place, name: string, web: WebFields | undefined, folder: string): Secret {
  if (web?.tlsConfig !== undefined) checkServerTls(web.tlsConfig, "spec.web.tlsConfig");
  return ownSecret(place, name, { [webConfigFile]: base64(webConfiguration(web, folder)) });
}
