/** A BackupStore, of the settings of Barman about an object store. */
import { dataLabels } from "@setpoint/data-service";
import type { Report } from "./difference.ts";
import type { Fields } from "./fields.ts";
import { type InputObject, sourceFlag, targetFlag } from "./input-object.ts";
import { besideOf, dataVersion, type OutputObject, withoutUndefined } from "./output-object.ts";

/** `barman` is the object with `destinationPath`. Undefined when it names no place that a BackupStore has. */
export function adoptStore(input: InputObject, barman: Fields, name: string, report: Report): OutputObject | undefined {
  const place = placeOf(barman, name, report);
  if (place === undefined) return undefined;
  reportSecret(input, barman, place, report);
  reportOtherCredentials(barman, place, report);
  return besideOf(input, { apiVersion: dataVersion, kind: "BackupStore", name }, { [place.kind]: place.value });
}

interface Place {
  readonly kind: "s3" | "gcs" | "azure";
  readonly value: Readonly<Record<string, unknown>>;
}

function placeOf(barman: Fields, name: string, report: Report): Place | undefined {
  const destination = barman.requiredText("destinationPath");
  const endpoint = barman.text("endpointURL");
  const [, scheme = "", bucket = "", path = ""] = /^(s3|gs):\/\/([^/]+)\/*(.*)$/.exec(destination) ?? [];
  const rest = { prefix: prefixOf(path), endpoint, credentialsSecret: name };
  if (scheme === "s3") return { kind: "s3", value: withoutUndefined({ bucket, ...rest }) };
  if (scheme === "gs") return { kind: "gcs", value: withoutUndefined({ bucket, ...rest }) };
  const azure = azureOf(destination, name);
  if (azure !== undefined) return azure;
  report.add(
    barman.at("destinationPath"),
    "byHand",
    `"${destination}" is no place that a BackupStore has: expected s3://, gs:// or the URL of a container of Azure`,
    "write a BackupStore and spec.archive",
  );
  return undefined;
}

/** `https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH`; an emulator has the account in the path. */
function azureOf(destination: string, name: string): Place | undefined {
  const [, origin = "", path = ""] = /^(https?:\/\/[^/]+)\/+(.*)$/.exec(destination) ?? [];
  const parts = path.split("/").filter(Boolean);
  const isEmulator = !/^https?:\/\/[^/.]+\.blob\./.test(origin);
  const account = isEmulator ? parts.shift() : undefined;
  const container = parts.shift();
  if (container === undefined) return undefined;
  const endpoint = account === undefined ? origin : `${origin}/${account}`;
  const value = { container, prefix: prefixOf(parts.join("/")), endpoint, credentialsSecret: name };
  return { kind: "azure", value: withoutUndefined(value) };
}

function prefixOf(path: string): string | undefined {
  const prefix = path.replaceAll(/^\/+|\/+$/g, "");
  return prefix === "" ? undefined : prefix;
}

/** The keys of the Secret that a BackupStore reads, and where CloudNativePG has their values. */
const secretKeys: Readonly<Record<Place["kind"], Readonly<Record<string, readonly [string, string]>>>> = {
  s3: {
    "access-key-id": ["s3Credentials", "accessKeyId"],
    "secret-access-key": ["s3Credentials", "secretAccessKey"],
  },
  gcs: { "service-account.json": ["googleCredentials", "applicationCredentials"] },
  azure: {
    "account-name": ["azureCredentials", "storageAccount"],
    "account-key": ["azureCredentials", "storageKey"],
  },
};

function reportSecret(input: InputObject, barman: Fields, { kind, value }: Place, report: Report): void {
  const name = String(value["credentialsSecret"]);
  const flag = targetFlag(input);
  const literals = Object.entries(secretKeys[kind]).map(([key, [group, field]]) => {
    const reference = barman.fields(group).fields(field);
    return `--from-literal=${key}="${valueText(reference, sourceFlag(input))}"`;
  });
  const create = `kubectl${flag} create secret generic ${name} ${literals.join(" ")}`;
  const label = `kubectl${flag} label secret ${name} ${dataLabels.backupStore}=true`;
  const why = `the BackupStore reads the Secret "${name}" with the keys ${Object.keys(secretKeys[kind]).join(", ")}, and asks for a label`;
  report.add(barman.at(credentialsPath(barman, kind)), "byHand", why, `run: ${create}; ${label}`);
  if (kind === "s3") reportRegion(barman, report);
}

function reportOtherCredentials(barman: Fields, { kind }: Place, report: Report): void {
  const [[own] = [""]] = Object.values(secretKeys[kind]);
  for (const group of ["s3Credentials", "googleCredentials", "azureCredentials"])
    if (group !== own && barman.has(group))
      report.add(barman.at(group), "unneeded", `the destination is of another kind: ${kind}`);
}

function credentialsPath(barman: Fields, kind: Place["kind"]): string {
  const [[group, field] = ["", ""]] = Object.values(secretKeys[kind]);
  return barman.fields(group).has(field) ? `${group}.${field}` : "destinationPath";
}

/** The value itself is in no output: the shell of the user reads it. */
function valueText(reference: Fields, flag: string): string {
  const name = reference.text("name");
  const key = reference.text("key");
  if (name === undefined || key === undefined) return "VALUE";
  return `$(kubectl${flag} get secret ${name} -o go-template='{{index .data "${key}" | base64decode}}')`;
}

function reportRegion(barman: Fields, report: Report): void {
  const region = barman.fields("s3Credentials").fields("region");
  const name = region.text("name");
  const where = name === undefined ? "" : `; it is in the key "${region.text("key") ?? ""}" of Secret "${name}"`;
  const path = name === undefined ? barman.at("destinationPath") : region.path;
  report.add(path, "byHand", `the region of the bucket is us-east-1 without spec.s3.region${where}`, "set it");
}
