/** The Secret of a binding, as servicebinding.io wants it; pure. */
import { Secret } from "setpoint/kinds";
import type { Stored } from "setpoint";
import type { UserCredentials } from "../engine/control.ts";
import type { ServiceBinding } from "../kinds/service-binding.ts";

/** Every Secret of a binding has it, so that the operator watches these and no other Secrets. */
export const bindingLabel = "data.setpoint.dev/binding";

export function secretNameOf({ metadata, spec }: Stored<ServiceBinding>): string {
  return spec.secretName ?? metadata.name;
}

/** The Secret with the operator's own copy of the newest login. */
export function keeperNameOf(binding: Stored<ServiceBinding>): string {
  return `${secretNameOf(binding).slice(0, 240)}-login`;
}

function secretOf(
  { metadata }: Stored<ServiceBinding>,
  name: string,
  type: string,
  entries: Readonly<Record<string, string>>,
): Secret {
  return Secret({ name, labels: { [bindingLabel]: metadata.name.slice(0, 63) }, type, data: encoded(entries) });
}

/** The Secret that applications read. */
export function bindingSecret(
  binding: Stored<ServiceBinding>,
  engine: string,
  login: UserCredentials,
  connection: Readonly<Record<string, string>>,
): Secret {
  const entries = { ...connection, type: engine, provider: "setpoint", username: login.user, password: login.password };
  return secretOf(binding, secretNameOf(binding), `servicebinding.io/${engine}`, entries);
}

/** The Secret with the operator's own copy of a login. */
export function keeperSecret(binding: Stored<ServiceBinding>, { user, password }: UserCredentials): Secret {
  return secretOf(binding, keeperNameOf(binding), "data.setpoint.dev/login", { username: user, password });
}

/** A merge patch that brings a present Secret to the wanted one. */
export function secretPatch(present: Secret, { metadata, data = {} }: Secret): object {
  const removed = Object.keys(present.data ?? {}).filter((key) => data[key] === undefined);
  return {
    metadata: { labels: metadata.labels },
    data: { ...Object.fromEntries(removed.map((key) => [key, null])), ...data },
  };
}

/** What of a Secret is not as wanted: keys of its data, or its label. */
export function outdatedParts(present: Secret, wanted: Secret): readonly string[] {
  const [data, wantedData] = [present.data ?? {}, wanted.data ?? {}];
  const keys = [...new Set([...Object.keys(data), ...Object.keys(wantedData)])].sort();
  const isLabelled = present.metadata.labels?.[bindingLabel] === wanted.metadata.labels?.[bindingLabel];
  return [...(isLabelled ? [] : ["label"]), ...keys.filter((key) => data[key] !== wantedData[key])];
}

/** The login that a Secret contains; empty where it contains none. */
export function loginOf({ data = {} }: Secret): UserCredentials {
  const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
  return { user: text("username"), password: text("password") };
}

function encoded(entries: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(entries).map(([key, value]) => [key, Buffer.from(value, "utf8").toString("base64")]),
  );
}
