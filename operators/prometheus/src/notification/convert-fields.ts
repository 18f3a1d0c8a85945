/** Fields of receivers in the words of Alertmanager; pure. Throws `ConfigurationRefused` at the field. */
import { durationMs } from "../generate/durations.ts";
import type { Section, Value } from "../generate/generation.ts";
import type { ReceiverHttp } from "../kind/alertmanager-config.ts";
import type { Sigv4, Tls } from "../kind/http-client.ts";
import type { FieldTable, FieldType, Nested } from "../kind/receiver-table.ts";
import type { KeySelector } from "../kind/references.ts";
import { isAtLeast } from "../generate/version.ts";
import { durationText } from "./duration-text.ts";
import { httpSection, tlsSection } from "./receiver-http.ts";
import { at, type Place, refuseAt, secretOf } from "./place.ts";
import { checkTemplateUrl, checkUrl } from "./urls.ts";

/** An empty text, list or map means nothing, as in upstream's API. */
export function convertFields(place: Place, fields: FieldTable, values: Readonly<Record<string, unknown>>): Section {
  const entries = Object.entries(fields).flatMap(([name, [key, type]]) => {
    const value = converted(at(place, name), type, values[name]);
    return value === undefined ? [] : [[key, value] as const];
  });
  return Object.fromEntries(entries);
}

function converted(place: Place, type: FieldType | Nested, value: unknown): Value | undefined {
  if (type === "always") return value === true;
  if (value === undefined || value === null || value === "") return undefined;
  // The schema of the kind, which is made of the same table, has checked the types.
  return typeof type === "string" ? converters[type](place, value as never) : nested(place, type, value);
}

function nested(place: Place, { fields, isList, fixed = {} }: Nested, value: unknown): Value | undefined {
  type Values = Readonly<Record<string, unknown>>;
  if (!isList) return convertFields(place, fields, value as Values);
  const items = value as readonly Values[];
  if (items.length === 0) return undefined;
  return items.map((item, index) => ({
    ...fixed,
    ...convertFields({ ...place, path: `${place.path}[${index}]` }, fields, item),
  }));
}

type Converter<T> = (place: Place, value: T) => Value | undefined;

const converters: { readonly [Type in Exclude<FieldType, "always">]: Converter<never> } = {
  text: (_: Place, value: string) => value,
  flag: (_: Place, value: boolean) => value,
  on: (_: Place, value: boolean) => (value ? true : undefined),
  number: (_: Place, value: number) => (value === 0 ? undefined : value),
  duration: (place: Place, value: string) => durationText(requireDuration(place, value)),
  url: (place: Place, value: string) => checkUrl(place, value),
  templateUrl: (place: Place, value: string) => checkTemplateUrl(place, value),
  secret: secretOf,
  secretUrl: (place: Place, value: KeySelector) => checkUrl(place, secretOf(place, value).trim(), true),
  http: (place: Place, value: ReceiverHttp) => httpSection(place, value),
  tls: (place: Place, value: Tls) => tlsSection(place, value),
  pairs: (_: Place, value: Pairs) =>
    value.length === 0 ? undefined : Object.fromEntries(value.map((each) => [each.key, each.value])),
  texts: (_: Place, value: readonly string[]) => (value.length === 0 ? undefined : value),
  map: (_: Place, value: Readonly<Record<string, string>>) => (Object.keys(value).length === 0 ? undefined : value),
  sigv4: sigv4Section,
  threading: (_: Place, value: { readonly threadByDate: string }) => ({
    enabled: true,
    thread_by_date: value.threadByDate.toLowerCase(),
  }),
};

type Pairs = readonly { readonly key: string; readonly value: string }[];

export function requireDuration(place: Place, text: string): number {
  const ms = durationMs(text);
  if (ms === undefined) throw refuseAt(place, `expected a duration such as 5m, got "${text}"`);
  return ms;
}

function sigv4Section(place: Place, auth: Sigv4): Section {
  const { accessKey, secretKey } = auth;
  const isByKeys = accessKey !== undefined && secretKey !== undefined;
  const texts = {
    region: auth.region,
    ...(isByKeys
      ? {
          access_key: secretOf(at(place, "accessKey"), accessKey),
          secret_key: secretOf(at(place, "secretKey"), secretKey),
        }
      : {}),
    profile: auth.profile,
    role_arn: auth.roleArn,
    external_id: isAtLeast(place.version, "0.33.0") ? auth.externalId : undefined,
  };
  const entries = Object.entries(texts).filter(([, text]) => text !== undefined && text !== "");
  return Object.fromEntries(entries) as Section;
}
