/** The keys of Secrets and ConfigMaps that a Prometheus itself names. */
import { assetKey } from "../generate/assets.ts";
import type { Sigv4 } from "../kind/http-client.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import type { KeySelector } from "../kind/references.ts";
import { type HttpFields, keysOf, type NamedKey } from "./check-http.ts";

export function keysOfPrometheus({ metadata, spec }: AnyPrometheus): readonly NamedKey[] {
  const namespace = metadata.namespace ?? "";
  const clients: Readonly<Record<string, HttpFields | undefined>> = {
    ...numbered("remoteWrite", spec.remoteWrite),
    ...numbered("remoteRead", spec.remoteRead),
    ...numbered("alerting.alertmanagers", spec.alerting?.alertmanagers),
    ...numbered("scrapeClasses", spec.scrapeClasses),
    apiserverConfig: spec.apiserverConfig,
    tracingConfig: spec.tracingConfig,
  };
  const signed: Readonly<Record<string, { readonly sigv4?: Sigv4 | undefined }>> = {
    ...numbered("remoteWrite", spec.remoteWrite),
    ...numbered("alerting.alertmanagers", spec.alerting?.alertmanagers),
  };
  const secret = (field: string, selector: KeySelector | undefined): readonly NamedKey[] =>
    selector === undefined
      ? []
      : [{ field, asset: assetKey("Secret", namespace, selector), isOptional: selector.optional === true }];
  return [
    ...Object.entries(clients).flatMap(([at, client]) =>
      keysOf(namespace, client ?? {}).map((key) => ({ ...key, field: `${at}.${key.field}` })),
    ),
    ...Object.entries(signed).flatMap(([at, { sigv4 }]) => [
      ...secret(`${at}.sigv4.accessKey`, sigv4?.accessKey),
      ...secret(`${at}.sigv4.secretKey`, sigv4?.secretKey),
    ]),
    ...(spec.remoteWrite ?? []).flatMap(({ azureAd }, index) =>
      secret(`remoteWrite[${index}].azureAd.oauth.clientSecret`, azureAd?.oauth?.clientSecret),
    ),
    ...secret("additionalScrapeConfigs", spec.additionalScrapeConfigs),
    ...secret("additionalAlertRelabelConfigs", spec.additionalAlertRelabelConfigs),
    ...secret("additionalAlertManagerConfigs", spec.additionalAlertManagerConfigs),
  ];
}

function numbered<T>(field: string, list: readonly T[] | undefined): Readonly<Record<string, T>> {
  return Object.fromEntries((list ?? []).map((each, index) => [`${field}[${index}]`, each]));
}
