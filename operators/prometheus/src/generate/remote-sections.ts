/** Remote write and remote read. */
import type { RemoteRead, RemoteWrite } from "../kind/remote-endpoints.ts";
import { field, filled, type Generation, given, has, type Section, since, sorted } from "./generation.ts";
import { authorization, basicAuth, oauth2, proxyConfig, secretValue, sigv4, tlsConfig } from "./http-settings.ts";
import { relabelConfigs } from "./relabeling.ts";

const messages: Readonly<Record<string, string>> = {
  "V1.0": "prometheus.WriteRequest",
  "V2.0": "io.prometheus.write.v2.Request",
};

export function remoteWriteSection(generation: Generation): Section {
  const writes = filled(generation.prometheus.spec.remoteWrite);
  return field(
    "remote_write",
    writes?.map((write) => remoteWrite(generation, write)),
  );
}

function remoteWrite(generation: Generation, spec: RemoteWrite): Section {
  const namespace = generation.prometheus.metadata.namespace ?? "";
  const message = spec.messageVersion === undefined ? undefined : (messages[spec.messageVersion] ?? messages["V1.0"]);
  return {
    url: spec.url,
    ...field("remote_timeout", spec.remoteTimeout),
    ...since(generation, "2.15.0", "headers", nonEmpty(spec.headers)),
    ...since(generation, "2.15.0", "name", given(spec.name)),
    ...since(generation, "2.54.0", "protobuf_message", message),
    ...since(generation, "2.27.0", "send_exemplars", spec.sendExemplars),
    ...since(generation, "2.40.0", "send_native_histograms", spec.sendNativeHistograms),
    ...field("write_relabel_configs", filled(relabelConfigs(spec.writeRelabelConfigs))),
    ...credentials(generation, namespace, spec),
    ...sigv4(generation, namespace, "2.26.0", spec.sigv4),
    ...azureAd(generation, namespace, spec.azureAd),
    ...since(generation, "2.26.0", "follow_redirects", spec.followRedirects),
    ...since(generation, "2.35.0", "enable_http2", spec.enableHTTP2),
    ...queueConfig(generation, spec.queueConfig),
    ...metadataConfig(generation, spec),
    ...since(generation, "3.1.0", "round_robin_dns", spec.roundRobinDNS),
  };
}

function credentials(generation: Generation, namespace: string, spec: RemoteWrite | RemoteRead): Section {
  return {
    ...basicAuth(generation, namespace, spec.basicAuth),
    ...field("bearer_token", given(spec.bearerToken)),
    ...field("bearer_token_file", given(spec.bearerTokenFile)),
    ...oauth2(generation, namespace, spec.oauth2),
    ...tlsConfig(generation, namespace, spec.tlsConfig),
    ...authorization(generation, namespace, spec.authorization),
    ...proxyConfig(generation, namespace, spec),
  };
}

function azureAd(generation: Generation, namespace: string, azure: RemoteWrite["azureAd"]): Section {
  if (azure === undefined) return {};
  const { managedIdentity, oauth, sdk, workloadIdentity } = azure;
  const secret =
    oauth === undefined
      ? undefined
      : secretValue(generation, namespace, oauth.clientSecret, "azureAd.oauth.clientSecret");
  const oauthSection =
    oauth === undefined || secret === undefined
      ? undefined
      : { client_id: oauth.clientId, client_secret: secret, tenant_id: oauth.tenantId };
  const workload = workloadIdentity && { client_id: workloadIdentity.clientId, tenant_id: workloadIdentity.tenantId };
  return since(generation, "2.45.0", "azuread", {
    ...field("managed_identity", managedIdentity && field("client_id", given(managedIdentity.clientId))),
    ...since(generation, "2.48.0", "oauth", oauthSection),
    ...since(generation, "2.52.0", "sdk", sdk && { tenant_id: sdk.tenantId ?? "" }),
    ...since(generation, "3.7.0", "workload_identity", workload),
    ...field("cloud", azure.cloud),
    ...since(generation, "3.9.0", "scope", given(azure.scope)),
  });
}

/** 0 means the default of Prometheus. */
function positive(value: number | undefined): number | undefined {
  return value === 0 ? undefined : value;
}

function queueConfig(generation: Generation, queue: RemoteWrite["queueConfig"]): Section {
  if (queue === undefined) return {};
  const retries = has(generation, "2.11.0") ? undefined : positive(queue.maxRetries);
  return {
    queue_config: {
      ...field("capacity", positive(queue.capacity)),
      ...since(generation, "2.6.0", "min_shards", positive(queue.minShards)),
      ...field("max_shards", positive(queue.maxShards)),
      ...field("max_samples_per_send", positive(queue.maxSamplesPerSend)),
      ...field("batch_send_deadline", queue.batchSendDeadline),
      ...field("max_retries", retries),
      ...field("min_backoff", queue.minBackoff),
      ...field("max_backoff", queue.maxBackoff),
      ...since(generation, "2.26.0", "retry_on_http_429", queue.retryOnRateLimit === true ? true : undefined),
      ...since(generation, "2.50.0", "sample_age_limit", queue.sampleAgeLimit),
    },
  };
}

function metadataConfig(generation: Generation, { metadataConfig: metadata, messageVersion }: RemoteWrite): Section {
  if (metadata === undefined) return {};
  return since(generation, "2.23.0", "metadata_config", {
    // The second version of the protocol sends metadata with the samples.
    send: messageVersion === "V2.0" ? false : (metadata.send ?? false),
    ...field("send_interval", given(metadata.sendInterval)),
    ...since(generation, "2.29.0", "max_samples_per_send", metadata.maxSamplesPerSend),
  });
}

export function remoteReadSection(generation: Generation): Section {
  const reads = filled(generation.prometheus.spec.remoteRead);
  return field(
    "remote_read",
    reads?.map((read) => remoteRead(generation, read)),
  );
}

function remoteRead(generation: Generation, spec: RemoteRead): Section {
  return {
    url: spec.url,
    ...field("remote_timeout", spec.remoteTimeout),
    ...since(generation, "2.26.0", "headers", nonEmpty(spec.headers)),
    ...since(generation, "2.15.0", "name", given(spec.name)),
    ...field("required_matchers", nonEmpty(spec.requiredMatchers)),
    ...field("read_recent", spec.readRecent === true ? true : undefined),
    ...credentials(generation, generation.prometheus.metadata.namespace ?? "", spec),
    ...since(generation, "2.26.0", "follow_redirects", spec.followRedirects),
    ...since(generation, "2.34.0", "filter_external_labels", spec.filterExternalLabels),
  };
}

function nonEmpty(map: Readonly<Record<string, string>> | undefined): Section | undefined {
  return map === undefined || Object.keys(map).length === 0 ? undefined : sorted(map);
}
