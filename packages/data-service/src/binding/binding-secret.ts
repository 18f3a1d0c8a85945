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

/** What the Secret contains as text: the login, and how the instance is reached. */
export function bindingEntries(
  engine: string,
  { user, password }: UserCredentials,
  connection: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...connection, type: engine, provider: "setpoint", username: user, password };
}

export function bindingSecret(
  binding: Stored<ServiceBinding>,
  engine: string,
  entries: Readonly<Record<string, string>>,
): Secret {
  return Secret({
    name: secretNameOf(binding),
    labels: { [bindingLabel]: binding.metadata.name.slice(0, 63) },
    type: `servicebinding.io/${engine}`,
    data: encoded(entries),
  });
}

/** A merge patch that makes the data of a present Secret equal to the entries. */
export function dataPatch(present: Secret, entries: Readonly<Record<string, string>>): object {
  const removed = Object.keys(present.data ?? {}).filter((key) => entries[key] === undefined);
  return { data: { ...Object.fromEntries(removed.map((key) => [key, null])), ...encoded(entries) } };
}

/** The keys whose values differ. */
export function outdatedKeys(present: Secret, entries: Readonly<Record<string, string>>): readonly string[] {
  const data = present.data ?? {};
  const wanted = encoded(entries);
  return [...new Set([...Object.keys(data), ...Object.keys(wanted)])].filter((key) => data[key] !== wanted[key]).sort();
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
