/** The keys of Secrets and ConfigMaps that receivers name. */
import { assetKey } from "../generate/assets.ts";
import type { Alertmanager } from "../kind/alertmanager.ts";
import type { AlertmanagerConfig, Receiver } from "../kind/alertmanager-config.ts";
import type { Sigv4, Tls } from "../kind/http-client.ts";
import { type FieldTable, globalGroups, globalTable, receiverLists } from "../kind/receiver-table.ts";
import type { KeySelector } from "../kind/references.ts";
import { type HttpFields, keysOf, type NamedKey } from "../select/check-http.ts";

type Values = Readonly<Record<string, unknown>>;

export function keysOfConfig({ metadata, spec }: AlertmanagerConfig): readonly NamedKey[] {
  const receivers: readonly Receiver[] = spec.receivers ?? [];
  return receivers.flatMap((receiver, at) =>
    receiverLists.flatMap(([list, , fields]) =>
      ((receiver[list] ?? []) as readonly Values[]).flatMap((each, index) =>
        keysIn(metadata.namespace ?? "", fields, each, `spec.receivers[${at}].${list}[${index}]`),
      ),
    ),
  );
}

/** Those of the settings of all receivers. */
export function keysOfGlobal({ metadata, spec }: Alertmanager): readonly NamedKey[] {
  const path = "spec.alertmanagerConfiguration.global";
  const global: Values = { ...spec.alertmanagerConfiguration?.global };
  const namespace = metadata.namespace ?? "";
  return [
    ...keysIn(namespace, globalTable, global, path),
    ...Object.entries(globalGroups).flatMap(([name, [, fields]]) =>
      keysIn(namespace, fields, (global[name] ?? {}) as Values, `${path}.${name}`),
    ),
  ];
}

function keysIn(namespace: string, fields: FieldTable, values: Values, path: string): readonly NamedKey[] {
  const secret = (field: string, selector: KeySelector | undefined): readonly NamedKey[] =>
    selector === undefined || (selector.name ?? "") === ""
      ? []
      : [{ field, asset: assetKey("Secret", namespace, selector), isOptional: selector.optional === true }];
  const http = (field: string, of: HttpFields): readonly NamedKey[] =>
    keysOf(namespace, of).map((key) => ({ ...key, field: `${field}.${key.field}` }));
  return Object.entries(fields).flatMap(([name, [, type]]) => {
    const value = values[name];
    const field = `${path}.${name}`;
    if (value === undefined || value === null) return [];
    // The schema of the kind, which is made of the same table, has checked the types.
    if (type === "secret" || type === "secretUrl") return secret(field, value as KeySelector);
    if (type === "http") return http(field, value as HttpFields);
    if (type === "tls") return http(path, { tlsConfig: value as Tls });
    if (type !== "sigv4") return [];
    const { accessKey, secretKey } = value as Sigv4;
    return [...secret(`${field}.accessKey`, accessKey), ...secret(`${field}.secretKey`, secretKey)];
  });
}

/** Whether the configuration names the key as a file. */
export function isTlsKey({ field }: NamedKey): boolean {
  return /\.tlsConfig\.(?:ca|cert|keySecret)$/.test(field);
}
