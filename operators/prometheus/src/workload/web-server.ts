/** The file by which a server serves TLS and headers, and the volumes that it names; pure. */
import type { PodSpec } from "setpoint/kinds";
import { stringify } from "yaml";
import { ConfigurationRefused, field, filled, given, type Section } from "../generate/generation.ts";
import type { KeySelector, SecretOrConfigMap } from "../kind/references.ts";
import type { ServerTls, WebFields } from "../kind/web-server.ts";
import type { Container } from "./merge-containers.ts";
import { readOnly } from "./pod-parts.ts";

type Volume = NonNullable<PodSpec["volumes"]>[number];
type Mount = NonNullable<Container["volumeMounts"]>[number];

/** Empty when the server serves without TLS. */
export function webConfiguration(web: WebFields | undefined, folder: string): string {
  const { tlsConfig, httpConfig } = web ?? {};
  if (tlsConfig === undefined && httpConfig === undefined) return "";
  return stringify({
    ...(tlsConfig === undefined ? {} : { tls_server_config: serverTlsSection(tlsConfig, folder) }),
    ...(httpConfig === undefined ? {} : { http_server_config: httpSection(httpConfig) }),
  });
}

/** Throws `ConfigurationRefused` for TLS that lacks something, or has it twice, at the field `path`. */
export function checkServerTls(tls: ServerTls, path: string): void {
  const refuse = (name: string, message: string): never => {
    throw new ConfigurationRefused(`${path}.${name}`, message);
  };
  const pairs = [
    ["cert", tls.cert?.secret ?? tls.cert?.configMap, "certFile", tls.certFile],
    ["keySecret", tls.keySecret, "keyFile", tls.keyFile],
    ["client_ca", tls.client_ca?.secret ?? tls.client_ca?.configMap, "clientCAFile", tls.clientCAFile],
  ] as const;
  for (const [name, key, fileName, file] of pairs) {
    const isGiven = given(key?.key) !== undefined;
    const hasFile = given(file) !== undefined;
    if (isGiven && hasFile) refuse(fileName, `it cannot be combined with ${name}; use one of them`);
    if (name !== "client_ca" && !isGiven && !hasFile) refuse(name, `expected a key of an object, or ${fileName}`);
  }
}

/** In the words of the exporter toolkit. */
export function serverTlsSection(tls: ServerTls, folder: string): Section {
  const [cert, key, ca] = referencesOf(tls, folder);
  return {
    ...field("cert_file", given(tls.certFile) ?? cert?.file),
    ...field("key_file", given(tls.keyFile) ?? key?.file),
    ...field("client_auth_type", given(tls.clientAuthType)),
    ...field("client_ca_file", given(tls.clientCAFile) ?? ca?.file),
    ...field("min_version", given(tls.minVersion)),
    ...field("max_version", given(tls.maxVersion)),
    ...field("cipher_suites", filled(tls.cipherSuites)),
    ...field("prefer_server_cipher_suites", tls.preferServerCipherSuites),
    ...field("curve_preferences", filled(tls.curvePreferences)),
  };
}

function httpSection({ http2, headers }: NonNullable<WebFields["httpConfig"]>): Section {
  const section = {
    ...field("Content-Security-Policy", given(headers?.contentSecurityPolicy)),
    ...field("Strict-Transport-Security", given(headers?.strictTransportSecurity)),
    ...field("X-Content-Type-Options", given(headers?.xContentTypeOptions)?.toLowerCase()),
    ...field("X-Frame-Options", given(headers?.xFrameOptions)?.toLowerCase()),
    ...field("X-XSS-Protection", given(headers?.xXSSProtection)),
  };
  return { ...field("http2", http2), ...(headers === undefined ? {} : { headers: section }) };
}

/** One key of an object, mounted whole: only so does the pod see a renewed certificate. */
interface MountedKey {
  readonly file: string;
  readonly mountPath: string;
  readonly source: Omit<Volume, "name">;
}

function mountedKey(role: string, reference: SecretOrConfigMap, folder: string): MountedKey | undefined {
  const { secret, configMap } = reference;
  const selector = secret ?? configMap;
  const { name = "", key = "" } = selector ?? {};
  if (selector === undefined || key === "") return undefined;
  const mountPath = `${folder}/${secret === undefined ? "configmap" : "secret"}/${name}-${role}`;
  const source = secret === undefined ? { configMap: { name } } : { secret: { secretName: name } };
  return { file: `${mountPath}/${key}`, mountPath, source };
}

function referencesOf(tls: ServerTls, folder: string): readonly (MountedKey | undefined)[] {
  const key: KeySelector | undefined = tls.keySecret;
  return [
    mountedKey("cert", tls.cert ?? {}, folder),
    mountedKey("key", key === undefined ? {} : { secret: key }, folder),
    mountedKey("ca", tls.client_ca ?? {}, folder),
  ];
}

export interface MountedFiles {
  readonly volumes: readonly Volume[];
  readonly mounts: readonly Mount[];
}

/** `prefix` is that of the volumes' names. */
export function serverTlsFiles(tls: ServerTls | undefined, folder: string, prefix: string): MountedFiles {
  if (tls === undefined) return { volumes: [], mounts: [] };
  const named = referencesOf(tls, folder).flatMap((each, index) =>
    each === undefined ? [] : [{ name: `${prefix}-${["cert", "key", "client-ca"][index] ?? ""}`, ...each }],
  );
  return {
    volumes: named.map(({ name, source }) => ({ name, ...source })),
    mounts: named.map(({ name, mountPath }) => readOnly(name, mountPath)),
  };
}
