/** The keys of Secrets and ConfigMaps that the configuration names as files of TLS. */
import { assetKey, type AssetKey, assetOf } from "../generate/assets.ts";
import type { Tls } from "../kind/http-client.ts";
import type { AnyPrometheus } from "../kind/prometheus.ts";
import type { ClientsOfObject } from "./scrape-objects.ts";

/** Those of the Prometheus itself, and of the objects whose clients these are. */
export function tlsKeys({ metadata, spec }: AnyPrometheus, objects: readonly ClientsOfObject[]): readonly AssetKey[] {
  const own: readonly WithTls[] = [
    ...(spec.remoteWrite ?? []),
    ...(spec.remoteRead ?? []),
    ...(spec.alerting?.alertmanagers ?? []),
    ...(spec.scrapeClasses ?? []),
    spec.apiserverConfig ?? {},
    spec.tracingConfig ?? {},
  ];
  return [
    ...own.flatMap((each) => keysIn(metadata.namespace ?? "", each)),
    ...objects.flatMap(({ namespace, clients }) => [
      ...clients.flatMap(({ client }) => keysIn(namespace, client)),
      // A scrape class of the Prometheus names keys in the namespace of the object.
      ...(spec.scrapeClasses ?? []).flatMap((each) => keysIn(namespace, each)),
    ]),
  ];
}

interface WithTls {
  readonly tlsConfig?: Tls | undefined;
  readonly oauth2?: { readonly tlsConfig?: Tls | undefined } | undefined;
}

function keysIn(namespace: string, { tlsConfig, oauth2 }: WithTls): readonly AssetKey[] {
  return [tlsConfig, oauth2?.tlsConfig].flatMap((tls) => {
    if (tls === undefined) return [];
    const references = [assetOf(namespace, tls.ca ?? {}), assetOf(namespace, tls.cert ?? {})];
    const key = tls.keySecret === undefined ? undefined : assetKey("Secret", namespace, tls.keySecret);
    return [...references, key].filter((each) => each !== undefined);
  });
}
