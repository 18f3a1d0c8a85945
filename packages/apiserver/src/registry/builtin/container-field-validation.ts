/** Validation of a `resourceFieldRef`: an amount of a container's resources, divided. */
import type { FieldError } from "@setpoint/apimachinery";
import { invalidValue, notSupported, required } from "../field-errors.ts";
import { stringAt, textOf, valueAt } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";

const kinds = ["limits", "requests"];
const resources = kinds.flatMap((kind) => ["cpu", "ephemeral-storage", "memory"].map((name) => `${kind}.${name}`));
const byteDivisors = "1 1k 1M 1G 1T 1P 1E 1Ki 1Mi 1Gi 1Ti 1Pi 1Ei".split(" ");

/** What a resource may be divided by, and how upstream calls both. */
const divisors = {
  cpu: { allowed: ["1m", "1"], listed: "1m and 1", noun: "cpu" },
  memory: { allowed: byteDivisors, listed: byteDivisors.join(", "), noun: "memory" },
  "ephemeral-storage": { allowed: byteDivisors, listed: byteDivisors.join(", "), noun: "local ephemeral storage" },
  hugepages: { allowed: byteDivisors, listed: byteDivisors.join(", "), noun: "hugepages" },
} as const;

export function containerFieldErrors(reference: unknown, at: string): readonly FieldError[] {
  const resource = stringAt(reference, "resource");
  const name = /^(?:limits|requests)\.(.*)$/.exec(resource)?.[1] ?? "";
  const isHugePages = name.startsWith("hugepages-");
  const errors: FieldError[] = [];
  if (resource === "") errors.push(required(`${at}.resource`));
  else if (!resources.includes(resource) && !isHugePages)
    errors.push(notSupported(`${at}.resource`, resource, resources));
  const rule = isHugePages ? divisors.hugepages : isDivided(name) ? divisors[name] : undefined;
  return [...errors, ...(rule === undefined ? [] : divisorErrors(valueAt(reference, "divisor"), rule, resource, at))];
}

function isDivided(name: string): name is keyof typeof divisors {
  return Object.hasOwn(divisors, name);
}

function divisorErrors(
  divisor: unknown,
  { allowed, listed, noun }: (typeof divisors)[keyof typeof divisors],
  resource: string,
  at: string,
): readonly FieldError[] {
  const text = textOf(divisor ?? "0");
  if (quantityNanos(text) === 0n || allowed.some((each) => each === text)) return [];
  const detail = `only divisor's values ${listed} are supported with the ${noun} resource`;
  return [invalidValue(`${at}.divisor`, resource, detail)];
}
