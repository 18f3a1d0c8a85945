/** Flags that all servers of Thanos have; pure. */
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { isAtLeast, parseVersion, type Version } from "../generate/version.ts";
import type { GrpcServerTls } from "../kind/thanos-fields.ts";
import { type Flag, valued } from "./flags.ts";

/** The newest one that upstream's release means when nobody names one. */
export const defaultThanosVersion = "v0.42.2";
export const thanosRepository = "quay.io/thanos/thanos";
export const grpcPort = 10_901;
export const thanosPort = 10_902;

/** Throws `ConfigurationRefused` for one that is none; `field` is where it stands. */
export function thanosVersionOf(text: string | undefined, field: string): Version {
  const wanted = given(text) ?? defaultThanosVersion;
  const version = parseVersion(wanted);
  if (version === undefined) throw new ConfigurationRefused(field, `expected a version of Thanos, got "${wanted}"`);
  return version;
}

export function grpcTlsFlags(tls: GrpcServerTls | undefined, version: Version): readonly Flag[] {
  if (tls === undefined) return [];
  const minimum = /^TLS1([0-3])$/.exec(tls.minVersion ?? "")?.[1];
  const takesCiphers = isAtLeast(version, "0.42.0");
  return [
    ...valued("grpc-server-tls-cert", tls.certFile),
    ...valued("grpc-server-tls-key", tls.keyFile),
    ...valued("grpc-server-tls-client-ca", tls.caFile),
    ...(minimum !== undefined && isAtLeast(version, "0.37.0")
      ? valued("grpc-server-tls-min-version", `1.${minimum}`)
      : []),
    ...(takesCiphers ? valued("grpc-server-tls-ciphers", (tls.cipherSuites ?? []).join(",")) : []),
    ...(takesCiphers ? valued("grpc-server-tls-curves", (tls.curves ?? []).join(",")) : []),
  ];
}
