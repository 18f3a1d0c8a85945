/** Network policies and Ingresses. */
import { isIP } from "node:net";
import type { FieldError, UnstructuredObject } from "@setpoint/apimachinery";
import { invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectAt, objectsAt, stringAt } from "../json-fields.ts";

const cidrProblem = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

export function validateNetworkPolicy(policy: UnstructuredObject): readonly FieldError[] {
  return [
    ["ingress", "from"],
    ["egress", "to"],
  ].flatMap(([direction = "", side = ""]) =>
    objectsAt(policy, "spec", direction).flatMap((rule, at) => [
      ...objectsAt(rule, "ports").flatMap((port, index) =>
        portErrors(port, `spec.${direction}[${at}].ports[${index}]`),
      ),
      ...objectsAt(rule, side).flatMap((peer, index) => peerErrors(peer, `spec.${direction}[${at}].${side}[${index}]`)),
    ]),
  );
}

/** A range of ports needs a number to begin with. */
function portErrors({ port, endPort }: JsonObject, at: string): readonly FieldError[] {
  if (endPort === undefined) return [];
  if (typeof port === "number")
    return Number(endPort) >= port
      ? []
      : [invalidValue(`${at}.endPort`, port, "must be greater than or equal to `port`")];
  const problem = port === undefined ? "not specified" : "non-numeric";
  return [invalidValue(`${at}.endPort`, endPort, `may not be specified when \`port\` is ${problem}`)];
}

function peerErrors(peer: JsonObject, at: string): readonly FieldError[] {
  const { podSelector, namespaceSelector, ipBlock } = peer;
  if (podSelector === undefined && namespaceSelector === undefined && ipBlock === undefined)
    return [required(at, "must specify a peer")];
  if (ipBlock === undefined) return [];
  const cidr = stringAt(ipBlock, "cidr");
  if (cidr === "") return [required(`${at}.ipBlock.cidr`)];
  return isCidr(cidr) ? [] : [invalidValue(`${at}.ipBlock.cidr`, cidr, cidrProblem)];
}

function isCidr(text: string): boolean {
  const [address = "", length = ""] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : -1;
  return /^\d{1,3}$/.test(length) && Number(length) <= bits && `${address}/${length}` === text;
}

export function validateIngress(ingress: UnstructuredObject): readonly FieldError[] {
  const spec = objectAt(ingress, "spec");
  if (spec["defaultBackend"] !== undefined || objectsAt(spec, "rules").length > 0) return [];
  return [invalidValue("spec", null, "either `defaultBackend` or `rules` must be specified")];
}
