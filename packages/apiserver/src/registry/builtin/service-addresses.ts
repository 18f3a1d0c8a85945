/**
 * The addresses of a Service: the first of `clusterIPs` is `clusterIP`, each of a family of `ipFamilies`. The
 * allocator completes and checks them before the rest is validated, as upstream.
 */
import { isIP, isIPv6 } from "node:net";
import type { FieldError } from "@setpoint/apimachinery";
import { duplicate, invalidValue, notSupported, required } from "../field-errors.ts";
import { type JsonObject, keepField, sameJson, stringAt, textOf } from "../json-fields.ts";

const families = ["IPv4", "IPv6"];
const familyPolicies = ["PreferDualStack", "RequireDualStack", "SingleStack"];
const addressProblem = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

function listAt(spec: JsonObject, field: string): readonly string[] {
  const value = spec[field];
  return Array.isArray(value) ? value.map(textOf) : [];
}

export function isHeadless(spec: JsonObject): boolean {
  return listAt(spec, "clusterIPs")[0] === "None" || spec["clusterIP"] === "None";
}

/** Addresses that an update leaves out are the present ones; who changes one of the two fields means both. */
export function completeAddresses(spec: JsonObject, before: JsonObject | undefined): void {
  const hadAddresses = before !== undefined && stringAt(before, "type") !== "ExternalName";
  if (hadAddresses) {
    if (spec["clusterIP"] === undefined && spec["clusterIPs"] === undefined) keepField(spec, before, "clusterIP");
    for (const field of ["ipFamilies", "ipFamilyPolicy"]) if (spec[field] === undefined) keepField(spec, before, field);
  }
  const address = stringAt(spec, "clusterIP");
  const isNew = listAt(spec, "clusterIPs").length === 0;
  const isAsBefore = hadAddresses && sameJson(spec["clusterIPs"], before["clusterIPs"]);
  const isChanged = address !== stringAt(before, "clusterIP");
  if (address !== "" && (isNew || (isAsBefore && isChanged))) spec["clusterIPs"] = [address];
  else if (address === "" && isAsBefore && isChanged) delete spec["clusterIPs"];
}

/** What upstream says of the addresses before it allocates any. */
export function addressErrors(spec: JsonObject): readonly FieldError[] {
  const at = "spec.clusterIPs";
  const addresses = listAt(spec, "clusterIPs");
  const first = stringAt(spec, "clusterIP");
  const errors: FieldError[] = [];
  if (first === "" && addresses.length > 0)
    errors.push(invalidValue(at, addresses, "must be empty when `clusterIP` is not specified"));
  if (first !== "" && addresses[0] !== first)
    errors.push(
      addresses.length === 0 ? required(at) : invalidValue(at, addresses, "first value must match `clusterIP`"),
    );
  errors.push(...familyErrors(spec));
  const invalid = invalidAddresses(addresses, at);
  errors.push(...invalid);
  if (addresses.length > 2) errors.push(invalidValue(at, addresses, "may only hold up to 2 values"));
  return invalid.length > 0 ? errors : [...errors, ...misfits(spec, addresses, at)];
}

function familyErrors(spec: JsonObject): readonly FieldError[] {
  const at = "spec.ipFamilies";
  const listed = listAt(spec, "ipFamilies");
  const policy = spec["ipFamilyPolicy"];
  return [
    ...listed.flatMap((family, index) => [
      ...(families.includes(family) ? [] : [notSupported(`${at}[${index}]`, family, families)]),
      ...(listed.indexOf(family) < index ? [duplicate(`${at}[${index}]`, family)] : []),
    ]),
    ...(policy === undefined || familyPolicies.includes(textOf(policy))
      ? []
      : [notSupported("spec.ipFamilyPolicy", policy, familyPolicies)]),
  ];
}

function invalidAddresses(addresses: readonly string[], at: string): readonly FieldError[] {
  return addresses.flatMap((address, index) => {
    if (index > 0 || address !== "None")
      return isIP(address) === 0 ? [invalidValue(`${at}[${index}]`, address, problemOf(address))] : [];
    return addresses.length > 1 ? [invalidValue(at, addresses, "'None' must be the first and only value")] : [];
  });
}

function problemOf(address: string): string {
  const hasLeadingZeros = /^\d+(\.\d+){3}$/.test(address) && isIP(address.replaceAll(/\b0+(?=\d)/g, "")) === 4;
  return hasLeadingZeros ? "must not have leading 0s" : addressProblem;
}

function misfits(spec: JsonObject, addresses: readonly string[], at: string): readonly FieldError[] {
  const isOneFamily = addresses.length > 1 && new Set(addresses.map(isIPv6)).size === 1;
  const errors: FieldError[] = isOneFamily
    ? [invalidValue(at, addresses, "may specify no more than one IP for each IP family")]
    : [];
  if (isHeadless(spec)) return errors;
  listAt(spec, "ipFamilies").forEach((family, index) => {
    const address = addresses[index];
    if (address === undefined || !families.includes(family) || isIPv6(address) === (family === "IPv6")) return;
    const expected = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    errors.push(invalidValue(`${at}[${index}]`, address, expected));
  });
  return errors;
}

/** The cluster has IPv4 only; a headless Service without a selector may claim both families. */
export function unsupportedFamilies(spec: JsonObject): readonly FieldError[] {
  const listed = listAt(spec, "ipFamilies");
  const address = listAt(spec, "clusterIPs").findIndex((each) => isIPv6(each));
  if (address !== -1) {
    const detail = "IPv6 is not configured on this cluster";
    return [invalidValue(`spec.clusterIPs[${address}]`, spec["clusterIPs"], detail)];
  }
  if (isHeadless(spec) && spec["selector"] === undefined) return [];
  const errors: FieldError[] = [];
  if (spec["ipFamilyPolicy"] === "RequireDualStack")
    errors.push(
      invalidValue("spec.ipFamilyPolicy", "RequireDualStack", "this cluster is not configured for dual-stack services"),
    );
  const second = listed.indexOf("IPv6");
  if (second !== -1) errors.push(invalidValue(`spec.ipFamilies[${second}]`, "IPv6", "not configured on this cluster"));
  return errors;
}

/** Addresses do not change, except from and to ExternalName, which has none. */
export function changedAddressErrors(spec: JsonObject, before: JsonObject): readonly FieldError[] {
  if (spec["type"] === "ExternalName" || before["type"] === "ExternalName") return [];
  if (isHeadless(spec) && isHeadless(before)) return [];
  const now = listAt(spec, "clusterIPs");
  const old = listAt(before, "clusterIPs");
  if (now.length === 0 && old.length > 0)
    return [invalidValue("spec.clusterIPs[0]", null, "primary clusterIP can not be unset")];
  const changed = now.length === old.length ? old.keys() : old.slice(0, 1).keys();
  return [...changed]
    .filter((index) => old[index] !== now[index])
    .map((index) => invalidValue(`spec.clusterIPs[${index}]`, now, "may not change once set"));
}

/** Why a text is no address of a Service, an endpoint's for example; in the words of upstream. */
export function externalAddressErrors(address: string, at: string): readonly FieldError[] {
  if (isIP(address) === 0) return [invalidValue(at, address, addressProblem)];
  return specialRanges
    .filter(([pattern]) => pattern.test(address))
    .map(([, problem]) => invalidValue(at, address, problem(address)));
}

const specialRanges: readonly (readonly [pattern: RegExp, problem: (address: string) => string])[] = [
  [/^(0\.0\.0\.0|::|0:0:0:0:0:0:0:0)$/, (address) => `may not be unspecified (${address})`],
  [/^(127\.|::1$)/, () => "may not be in the loopback range (127.0.0.0/8, ::1/128)"],
  [/^(169\.254\.|fe[89ab][0-9a-f]:)/i, () => "may not be in the link-local range (169.254.0.0/16, fe80::/10)"],
  [/^(224\.0\.0\.|ff02:)/i, () => "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"],
];
