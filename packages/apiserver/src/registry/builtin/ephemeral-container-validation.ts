/** Ephemeral containers: which fields they may have, and that they are only ever added. */
import type { FieldError } from "@setpoint/apimachinery";
import { duplicate, forbidden, notFound, required } from "../field-errors.ts";
import { type JsonObject, objectsAt, sameJson, stringAt } from "../json-fields.ts";

const at = "spec.ephemeralContainers";
const allowedFields: ReadonlySet<string> = new Set(
  "name image command args workingDir envFrom env volumeMounts volumeDevices terminationMessagePath terminationMessagePolicy imagePullPolicy securityContext stdin stdinOnce tty targetContainerName".split(
    " ",
  ),
);

/** Of a new pod, or of a change by the subresource. */
export function ephemeralContainerErrors(spec: JsonObject, old: JsonObject | undefined): readonly FieldError[] {
  const containers = objectsAt(spec, "ephemeralContainers");
  if (old === undefined) return containers.length === 0 ? [] : [forbidden(at, "cannot be set on create")];
  const others = ["containers", "initContainers"].flatMap((list) => objectsAt(spec, list).map(({ name }) => name));
  return [
    ...containers.flatMap((container, index) => containerErrors(container, index, containers, others)),
    ...changeErrors(containers, objectsAt(old, "ephemeralContainers")),
  ];
}

function containerErrors(
  container: JsonObject,
  index: number,
  containers: readonly JsonObject[],
  others: readonly unknown[],
): readonly FieldError[] {
  const path = `${at}[${index}]`;
  const { name } = container;
  const target = stringAt(container, "targetContainerName");
  const isTaken = others.includes(name) || containers.slice(0, index).some((each) => each["name"] === name);
  const refused = Object.entries(container).filter(([field, value]) => !allowedFields.has(field) && isSet(value));
  return [
    ...(stringAt(container, "name") === "" ? [required(`${path}.name`)] : []),
    ...(isTaken ? [duplicate(`${path}.name`, name)] : []),
    ...(stringAt(container, "image") === "" ? [required(`${path}.image`)] : []),
    ...refused.map(([field]) => forbidden(`${path}.${field}`, "cannot be set for an Ephemeral Container")),
    ...(target === "" || others.includes(target) ? [] : [notFound(`${path}.targetContainerName`, target)]),
  ];
}

/** Go sends structs and lists without content. */
function isSet(value: unknown): boolean {
  return typeof value === "object" && value !== null ? Object.keys(value).length > 0 : value !== undefined;
}

function changeErrors(containers: readonly JsonObject[], olds: readonly JsonObject[]): readonly FieldError[] {
  return olds.flatMap((old) => {
    const name = stringAt(old, "name");
    const found = containers.find((each) => each["name"] === name);
    const existing = `existing ephemeral containers ${JSON.stringify(name)} may not be`;
    if (found === undefined) return [forbidden(at, `${existing} removed\n`)];
    return sameJson(found, old) ? [] : [forbidden(at, `${existing} changed\n`)];
  });
}
