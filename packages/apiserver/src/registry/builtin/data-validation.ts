/** What ConfigMaps and Secrets may hold. */
import { type FieldError, lookupTable, type UnstructuredObject } from "@setpoint/apimachinery";
import { forbidden, immutableDetail, invalidValue, required } from "../field-errors.ts";
import { type JsonObject, objectAt, sameJson } from "../json-fields.ts";

const keyLengthMax = 253;
const dataKey = /^[-._a-zA-Z0-9]+$/;
const dataKeyProblem =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
/** Bytes of all values of a ConfigMap or a Secret together. */
const dataBytesMax = 1024 * 1024;

function bytesOf(values: JsonObject, encoding: "utf8" | "base64"): number {
  let bytes = 0;
  for (const value of Object.values(values)) if (typeof value === "string") bytes += Buffer.byteLength(value, encoding);
  return bytes;
}

/** Where upstream reports it: for a Secret at its data, for a ConfigMap at no field. */
function tooLongErrors(field: string, bytes: number): readonly FieldError[] {
  if (bytes <= dataBytesMax) return [];
  return [{ type: "FieldValueTooLong", field, message: `Too long: may not be more than ${dataBytesMax} bytes` }];
}

export function validateConfigMap(map: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const bytes = bytesOf(objectAt(map, "data"), "utf8") + bytesOf(objectAt(map, "binaryData"), "base64");
  return [...dataErrors(map, old), ...tooLongErrors("[]", bytes)];
}

function keyProblems(key: string): string[] {
  const problems: string[] = [];
  if (key.length > keyLengthMax) problems.push(`must be no more than ${keyLengthMax} characters`);
  if (!dataKey.test(key)) problems.push(dataKeyProblem);
  if (key === "." || key === "..") problems.push(`must not be '${key}'`);
  else if (key.startsWith("..")) problems.push("must not start with '..'");
  return problems;
}

function dataErrors(object: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["data", "binaryData"]) {
    for (const key of Object.keys(objectAt(object, field))) {
      const problems = keyProblems(key);
      if (field === "data" && key in objectAt(object, "binaryData"))
        problems.push("duplicate of key present in binaryData");
      errors.push(...problems.map((problem) => invalidValue(`${field}[${key}]`, key, problem)));
    }
  }
  if (old?.["immutable"] !== true) return errors;
  if (object["immutable"] !== true) errors.push(forbidden("immutable", "field is immutable when `immutable` is set"));
  for (const field of ["data", "binaryData"]) {
    if (!sameJson(object[field], old[field]))
      errors.push(forbidden(field, "field is immutable when `immutable` is set"));
  }
  return errors;
}

const requiredSecretKeys: Readonly<Record<string, readonly string[]>> = lookupTable({
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/dockercfg": [".dockercfg"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
});

export function validateSecret(secret: UnstructuredObject, old: UnstructuredObject | undefined): readonly FieldError[] {
  const errors = [...dataErrors(secret, old)];
  const data = objectAt(secret, "data");
  errors.push(...tooLongErrors("data", bytesOf(data, "base64")));
  for (const key of requiredSecretKeys[String(secret["type"])] ?? [])
    if (data[key] === undefined) errors.push(required(`data[${key}]`));
  errors.push(...typeErrors(secret, data));
  if (old !== undefined && secret["type"] !== old["type"])
    errors.push(invalidValue("type", secret["type"], immutableDetail));
  return errors;
}

const accountAnnotation = "kubernetes.io/service-account.name";

/** What the type of a Secret asks for beyond single keys. */
function typeErrors({ type, metadata }: UnstructuredObject, data: JsonObject): readonly FieldError[] {
  if (type === "kubernetes.io/basic-auth" && data["username"] === undefined && data["password"] === undefined)
    return [required("data[username]"), required("data[password]")];
  if (type === "kubernetes.io/service-account-token" && (metadata.annotations?.[accountAnnotation] ?? "") === "")
    return [required(`metadata.annotations[${accountAnnotation}]`)];
  return [];
}
