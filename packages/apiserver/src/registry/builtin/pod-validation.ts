/**
 * Validation of the common mistakes in a pod's spec: names, ports, mounts without volumes, duplicate names,
 * requests above limits.
 */
import type { FieldError } from "@setpoint/apimachinery";
import {
  dnsLabelProblem,
  duplicates,
  forbidden,
  invalidValue,
  isPort,
  notFound,
  notSupported,
  portProblem,
  required,
} from "../field-errors.ts";
import { type JsonObject, objectAt, objectsAt, stringAt, textOf } from "../json-fields.ts";
import { quantityNanos } from "./canonical-quantity.ts";
import { containerFieldErrors } from "./container-field-validation.ts";
import { fieldErrors, podFieldErrors, userErrors } from "./pod-field-validation.ts";
import { requirementErrors } from "./resource-validation.ts";
import { subPathErrors, volumeFileErrors } from "./volume-path-validation.ts";

const restartPolicies = ["Always", "OnFailure", "Never"];
const dnsPolicies = ["ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"];

/** All errors of the pod spec at the path `at`. */
export function podSpecErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const volumes = objectsAt(spec, "volumes");
  const volumeNames = new Set(volumes.map((volume) => stringAt(volume, "name")));
  const containers = objectsAt(spec, "containers");
  const initContainers = objectsAt(spec, "initContainers");
  const errors: FieldError[] = [];
  if (containers.length === 0) errors.push(required(`${at}.containers`));
  volumes.forEach((volume, index) => {
    errors.push(
      ...nameErrors(volume, `${at}.volumes[${index}].name`),
      ...sourceErrors(volume, `${at}.volumes[${index}]`),
      ...volumeFileErrors(volume, `${at}.volumes[${index}]`),
      ...sizeLimitErrors(volume, `${at}.volumes[${index}]`),
    );
  });
  errors.push(
    ...duplicates(
      (index) => `${at}.volumes[${index}].name`,
      volumes.map((each) => stringAt(each, "name")),
    ),
  );
  for (const [list, field] of [
    [containers, "containers"],
    [initContainers, "initContainers"],
  ] as const) {
    list.forEach((container, index) =>
      errors.push(...containerErrors(container, `${at}.${field}[${index}]`, volumeNames)),
    );
  }
  const names = [...containers, ...initContainers].map((each) => stringAt(each, "name"));
  errors.push(
    ...duplicates(
      (index) =>
        index < containers.length
          ? `${at}.containers[${index}].name`
          : `${at}.initContainers[${index - containers.length}].name`,
      names,
    ),
  );
  errors.push(...choiceErrors(spec, at), ...podFieldErrors(spec, at));
  return errors;
}

/** In the order in which upstream looks for them: the first is meant, the others are too many. */
const volumeSources =
  "emptyDir hostPath gitRepo gcePersistentDisk awsElasticBlockStore secret nfs iscsi glusterfs flocker persistentVolumeClaim rbd cinder cephfs quobyte downwardAPI fc azureFile configMap vsphereVolume azureDisk storageos portworxVolume scaleIO projected csi ephemeral image".split(
    " ",
  );

/** A strategic merge patch that names another type of volume adds it, unless it lists the keys to retain. */
function sourceErrors(volume: JsonObject, at: string): readonly FieldError[] {
  const [, ...tooMany] = volumeSources.filter((source) => (volume[source] ?? undefined) !== undefined);
  return tooMany.map((source) => forbidden(`${at}.${source}`, "may not specify more than 1 volume type"));
}

function choiceErrors(spec: JsonObject, at: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const restartPolicy = stringAt(spec, "restartPolicy");
  if (restartPolicy !== "" && !restartPolicies.includes(restartPolicy))
    errors.push(notSupported(`${at}.restartPolicy`, restartPolicy, restartPolicies));
  const dnsPolicy = stringAt(spec, "dnsPolicy");
  if (dnsPolicy !== "" && !dnsPolicies.includes(dnsPolicy))
    errors.push(notSupported(`${at}.dnsPolicy`, dnsPolicy, dnsPolicies));
  return errors;
}

function nameErrors(named: JsonObject, at: string): readonly FieldError[] {
  const name = stringAt(named, "name");
  if (name === "") return [required(at)];
  const problem = dnsLabelProblem(name);
  if (problem !== undefined && name.includes(".")) return [invalidValue(at, name, "must not contain dots")];
  return problem === undefined ? [] : [invalidValue(at, name, problem)];
}

function containerErrors(container: JsonObject, at: string, volumes: ReadonlySet<string>): readonly FieldError[] {
  const errors: FieldError[] = [...nameErrors(container, `${at}.name`)];
  const image = stringAt(container, "image");
  // A template may leave the image to a mutating webhook, but a pod may not; upstream asks for it in both but
  // initially.
  if (image === "") errors.push(required(`${at}.image`));
  else if (image !== image.trim())
    errors.push(invalidValue(`${at}.image`, image, "must not have leading or trailing whitespace"));
  errors.push(
    ...portErrors(container, at),
    ...mountErrors(container, at, volumes),
    ...environmentErrors(container, at),
  );
  errors.push(
    ...requirementErrors(objectAt(container, "resources"), `${at}.resources`),
    ...userErrors(objectAt(container, "securityContext"), `${at}.securityContext`),
  );
  return errors;
}

function portErrors(container: JsonObject, at: string): readonly FieldError[] {
  const ports = objectsAt(container, "ports");
  const errors = ports.flatMap((port, index): readonly FieldError[] => {
    const where = `${at}.ports[${index}].containerPort`;
    if (port["containerPort"] === undefined || port["containerPort"] === 0) return [required(where)];
    return isPort(port["containerPort"]) ? [] : [invalidValue(where, port["containerPort"], portProblem)];
  });
  return [
    ...errors,
    ...duplicates(
      (index) => `${at}.ports[${index}].name`,
      ports.map((port) => stringAt(port, "name")),
    ),
  ];
}

function mountErrors(container: JsonObject, at: string, volumes: ReadonlySet<string>): readonly FieldError[] {
  const paths = new Set<string>();
  return objectsAt(container, "volumeMounts").flatMap((mount, index) => {
    const errors: FieldError[] = [];
    const where = `${at}.volumeMounts[${index}]`;
    const name = stringAt(mount, "name");
    const path = stringAt(mount, "mountPath");
    if (name === "") errors.push(required(`${where}.name`));
    else if (!volumes.has(name)) errors.push(notFound(`${where}.name`, name));
    if (path === "") errors.push(required(`${where}.mountPath`));
    else if (paths.has(path)) errors.push(invalidValue(`${where}.mountPath`, path, "must be unique"));
    paths.add(path);
    errors.push(...subPathErrors(mount, where));
    return errors;
  });
}

function environmentErrors(container: JsonObject, at: string): readonly FieldError[] {
  return objectsAt(container, "env").flatMap((variable, index) => {
    const where = `${at}.env[${index}]`;
    if (stringAt(variable, "name") === "") return [required(`${where}.name`)];
    const source = objectAt(variable, "valueFrom");
    const reference = source["resourceFieldRef"];
    const errors = [
      ...fieldErrors(source["fieldRef"], `${where}.valueFrom.fieldRef`),
      ...(reference === undefined ? [] : containerFieldErrors(reference, `${where}.valueFrom.resourceFieldRef`)),
    ];
    if (stringAt(variable, "value") === "" || Object.keys(source).length === 0) return errors;
    return [...errors, invalidValue(`${where}.valueFrom`, "", "may not be specified when `value` is not empty")];
  });
}

function sizeLimitErrors(volume: JsonObject, at: string): readonly FieldError[] {
  const limit = objectAt(volume, "emptyDir")["sizeLimit"];
  if (limit === undefined || (quantityNanos(textOf(limit)) ?? 0n) >= 0n) return [];
  return [forbidden(`${at}.emptyDir.sizeLimit`, "SizeLimit field must be a valid resource quantity")];
}
