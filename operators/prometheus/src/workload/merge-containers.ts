/** Lays the containers of a user over those of the operator, as a strategic merge patch does; pure. */
import type { PodSpec } from "setpoint/kinds";

export type Container = PodSpec["containers"][number];

/** Lists that are merged by a field of their items; other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = {
  env: "name",
  ports: "containerPort",
  volumeMounts: "mountPath",
  volumeDevices: "devicePath",
};

/** A container with the name of one of the operator changes it; others are added behind. */
export function mergeContainers(
  own: readonly Container[],
  users: readonly Container[] | undefined,
): readonly Container[] {
  const patches = new Map((users ?? []).map((each) => [each.name, each]));
  const names = new Set(own.map(({ name }) => name));
  return [
    ...own.map((container) => {
      const patch = patches.get(container.name);
      return patch === undefined ? container : merged(container, patch);
    }),
    ...(users ?? []).filter(({ name }) => !names.has(name)),
  ];
}

// The result has the fields of both, each of the type that it has in a container.
function merged<T extends object>(own: T, patch: T): T {
  const fields = new Map<string, unknown>(Object.entries(own));
  for (const [key, value] of Object.entries(patch)) fields.set(key, mergedValue(key, fields.get(key), value));
  return Object.fromEntries(fields) as T;
}

function mergedValue(key: string, own: unknown, patch: unknown): unknown {
  if (isObject(own) && isObject(patch)) return merged(own, patch);
  const mergeKey = mergeKeys[key];
  if (mergeKey === undefined || !Array.isArray(own) || !Array.isArray(patch)) return patch;
  const patches = patch.filter(isObject);
  const isSame = (a: Fields, b: Fields): boolean => a[mergeKey] === b[mergeKey];
  const items = own.filter(isObject);
  return [
    ...items.map((item) => {
      const other = patches.find((each) => isSame(item, each));
      return other === undefined ? item : merged(item, other);
    }),
    ...patches.filter((each) => !items.some((item) => isSame(item, each))),
  ];
}

type Fields = Record<string, unknown>;

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
