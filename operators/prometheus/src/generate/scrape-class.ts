/** Scrape classes: settings of a Prometheus that monitors name. */
import type { Authorization, Tls } from "../kind/http-client.ts";
import type { ScrapeClass } from "../kind/common-prometheus.ts";
import type { AttachMetadata } from "../kind/scrape-fields.ts";
import { type Generation, given } from "./generation.ts";

const noClass: ScrapeClass = { name: "" };

/** The class with the name, else the default one. */
export function scrapeClassOf({ scrapeClasses }: Generation, name: string | undefined): ScrapeClass {
  const named = scrapeClasses.find((each) => each.name === name);
  return named ?? scrapeClasses.find((each) => each.default === true) ?? noClass;
}

/** What the endpoint says, and the rest from the class. */
export function mergedAuthorization(
  own: Authorization | undefined,
  { authorization }: ScrapeClass,
): Authorization | undefined {
  if (own === undefined || (given(own.type) === undefined && own.credentials === undefined)) return authorization;
  if (authorization === undefined || own.credentials !== undefined) return own;
  if (authorization.credentials !== undefined) return { ...own, credentials: authorization.credentials };
  return given(own.credentialsFile) === undefined && authorization.credentialsFile !== undefined
    ? { ...own, credentialsFile: authorization.credentialsFile }
    : own;
}

export function mergedTls(own: Tls | undefined, { tlsConfig }: ScrapeClass): Tls | undefined {
  if (own === undefined) return tlsConfig;
  if (tlsConfig === undefined) return own;
  const isEmpty = (reference: Tls["ca"]): boolean =>
    reference?.secret === undefined && reference?.configMap === undefined;
  const isAbsent = (file: string | undefined): boolean => given(file) === undefined;
  return {
    ...own,
    ...(isAbsent(own.caFile) && isEmpty(own.ca) ? { caFile: tlsConfig.caFile } : {}),
    ...(isAbsent(own.certFile) && isEmpty(own.cert) ? { certFile: tlsConfig.certFile } : {}),
    ...(isAbsent(own.keyFile) && own.keySecret === undefined ? { keyFile: tlsConfig.keyFile } : {}),
  };
}

/** The TLS of a kind that cannot name files: one without any field counts as absent. */
export function mergedSafeTls(own: Tls | undefined, scrapeClass: ScrapeClass): Tls | undefined {
  const isEmptyObject = (value: unknown): boolean =>
    typeof value === "object" && value !== null && Object.keys(value).length === 0;
  const isZero = own === undefined || Object.values(own).every((value) => value === undefined || isEmptyObject(value));
  return mergedTls(isZero ? undefined : own, scrapeClass);
}

export function mergedMetadata(
  own: AttachMetadata | undefined,
  { attachMetadata }: ScrapeClass,
): AttachMetadata | undefined {
  return own ?? attachMetadata;
}
