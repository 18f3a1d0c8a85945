/** Settings of all receivers, from an Alertmanager's own fields; pure. Throws `ConfigurationRefused`. */
import { ConfigurationRefused, field, type Section } from "../generate/generation.ts";
import { isAtLeast } from "../generate/version.ts";
import type { AlertmanagerGlobal } from "../kind/alertmanager-global.ts";
import { globalGroups, globalTable } from "../kind/receiver-table.ts";
import { convertFields } from "./convert-fields.ts";
import { at, type Place } from "./place.ts";

export function globalSection(place: Place, global: AlertmanagerGlobal): Section {
  const { smartHost, forceImplicitTLS } = global.smtp ?? {};
  if (forceImplicitTLS !== undefined && !isAtLeast(place.version, "0.31.0"))
    throw new ConfigurationRefused(`${place.path}.smtp.forceImplicitTLS`, "it needs Alertmanager 0.31.0 or newer");
  const host = smartHost === undefined ? undefined : `${smartHost.host}:${smartHost.port}`;
  type Groups = Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  const groups = Object.entries(globalGroups).map(([name, [minimum, fields]]): Section => {
    const values = (global as unknown as Groups)[name];
    if (values === undefined) return {};
    if (!isAtLeast(place.version, minimum))
      throw new ConfigurationRefused(`${place.path}.${name}`, `it needs Alertmanager ${minimum} or newer`);
    return convertFields(at(place, name), fields, values);
  });
  return Object.assign({}, convertFields(place, globalTable, { ...global }), field("smtp_smarthost", host), ...groups);
}
