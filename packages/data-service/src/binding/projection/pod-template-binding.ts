/**
 * Adds a binding to a pod template, and removes exactly what was added; pure. What a binding has added is
 * recorded in an annotation of the workload, so that no field of its author is ever taken away.
 */
import type { Container, EnvVar, PodSpec, PodTemplateSpec } from "setpoint/kinds";

/** One binding as a workload sees it. */
export interface Projection {
  /** The UID of the binding. */
  readonly id: string;
  /** The folder below the root. */
  readonly name: string;
  readonly secretName: string;
  /** Containers that get it; undefined: all. */
  readonly containers?: readonly string[] | undefined;
  readonly env: readonly { readonly name: string; readonly key: string }[];
}

/** The part of a workload that bindings change. */
export interface BoundTemplate {
  readonly template: PodTemplateSpec;
  readonly annotations: Readonly<Record<string, string>>;
}

/** Names of variables that a binding has added, by container. */
type Added = Readonly<Record<string, readonly string[]>>;

const rootVariable = "SERVICE_BINDING_ROOT";
const rootDefault = "/bindings";
const prefix = "bindings.data.setpoint.dev/";
/** Containers whose root variable a binding has added. It goes with the last binding. */
const rootKey = `${prefix}root`;

/** The annotation that records what a binding has added. */
export function recordKey(id: string): string {
  return prefix + id;
}

export function volumeName(id: string): string {
  return `binding-${id}`;
}

export function withBinding(bound: BoundTemplate, projection: Projection): BoundTemplate {
  const before = addedBy(bound, projection.id);
  const roots = addedRoots(bound);
  const added: Record<string, readonly string[]> = {};
  const newRoots = new Set(roots);
  const change = (container: Container): Container => {
    const { name } = container;
    const cleaned = withoutParts(container, projection, before[name] ?? []);
    if (projection.containers?.includes(name) === false) return cleaned;
    if (!hasRoot(cleaned)) newRoots.add(name);
    const names = projection.env.map((each) => each.name).filter((each) => !hasOwnVariable(container, each, before));
    added[name] = names;
    return withParts(container, projection, names, before[name] ?? []);
  };
  const changed = mapContainers(bound.template, change);
  const volume = { name: volumeName(projection.id), secret: { secretName: projection.secretName } };
  const volumes = upsert(changed.spec?.volumes ?? [], volume, (each) => each.name);
  return {
    template: withSpec(changed, { volumes }),
    annotations: {
      ...bound.annotations,
      [rootKey]: JSON.stringify([...newRoots].sort()),
      [recordKey(projection.id)]: JSON.stringify(added),
    },
  };
}

export function withoutBinding(bound: BoundTemplate, id: string): BoundTemplate {
  if (bound.annotations[recordKey(id)] === undefined) return bound;
  const added = addedBy(bound, id);
  const { [recordKey(id)]: _record, ...annotations } = bound.annotations;
  const isLast = !Object.keys(annotations).some((key) => key.startsWith(prefix) && key !== rootKey);
  const roots = isLast ? addedRoots(bound) : [];
  const template = mapContainers(bound.template, (container) => {
    const cleaned = withoutMount(container, id);
    const names = [...(added[container.name] ?? []), ...(roots.includes(container.name) ? [rootVariable] : [])];
    return names.length === 0
      ? cleaned
      : withEnv(
          cleaned,
          (cleaned.env ?? []).filter((each) => !names.includes(each.name)),
        );
  });
  const volumes = (template.spec?.volumes ?? []).filter(({ name }) => name !== volumeName(id));
  const { [rootKey]: _roots, ...others } = annotations;
  return { template: withSpec(template, { volumes }), annotations: isLast ? others : annotations };
}

function withParts(
  container: Container,
  { id, name, secretName, env }: Projection,
  names: readonly string[],
  before: readonly string[],
): Container {
  const root = container.env?.find((each) => each.name === rootVariable)?.value ?? rootDefault;
  const mount = { name: volumeName(id), mountPath: `${root}/${name}`, readOnly: true };
  const variables = env
    .filter((each) => names.includes(each.name))
    .map((each): EnvVar => ({ name: each.name, valueFrom: { secretKeyRef: { name: secretName, key: each.key } } }));
  const kept = (container.env ?? []).filter((each) => names.includes(each.name) || !before.includes(each.name));
  const rooted = hasRoot(container) ? kept : [...kept, { name: rootVariable, value: rootDefault }];
  return {
    ...withEnv(
      container,
      variables.reduce<readonly EnvVar[]>((all, each) => upsert(all, each, (variable) => variable.name), rooted),
    ),
    volumeMounts: upsert(container.volumeMounts ?? [], mount, (each) => each.name),
  };
}

/** A container that no longer gets the binding. */
function withoutParts(container: Container, { id, containers }: Projection, before: readonly string[]): Container {
  if (containers?.includes(container.name) !== false || before.length === 0)
    return withoutMount(container, id, containers);
  return withEnv(
    withoutMount(container, id, containers),
    (container.env ?? []).filter((each) => !before.includes(each.name)),
  );
}

function withoutMount(container: Container, id: string, containers?: readonly string[]): Container {
  const mounts = container.volumeMounts ?? [];
  const others = mounts.filter(({ name }) => name !== volumeName(id));
  if (others.length === mounts.length || containers?.includes(container.name) === true) return container;
  const { volumeMounts: _, ...rest } = container;
  return others.length === 0 ? rest : { ...rest, volumeMounts: others };
}

function withEnv(container: Container, env: readonly EnvVar[]): Container {
  const { env: _, ...rest } = container;
  return env.length === 0 ? rest : { ...rest, env };
}

function withSpec(template: PodTemplateSpec, { volumes }: Pick<PodSpec, "volumes">): PodTemplateSpec {
  const { volumes: _, ...rest } = template.spec ?? { containers: [] };
  return { ...template, spec: volumes === undefined || volumes.length === 0 ? rest : { ...rest, volumes } };
}

function mapContainers(template: PodTemplateSpec, change: (container: Container) => Container): PodTemplateSpec {
  const { containers, initContainers, ...rest } = template.spec ?? { containers: [] };
  const init = initContainers === undefined ? {} : { initContainers: initContainers.map(change) };
  return { ...template, spec: { ...rest, ...init, containers: containers.map(change) } };
}

function hasRoot({ env = [] }: Container): boolean {
  return env.some(({ name }) => name === rootVariable);
}

/** Whether the workload's author has set the variable. */
function hasOwnVariable(container: Container, name: string, before: Added): boolean {
  const isThere = container.env?.some((each) => each.name === name) ?? false;
  return isThere && before[container.name]?.includes(name) !== true;
}

/** The list with the item in the place of its namesake, or at the end: a repeated call changes nothing. */
function upsert<T>(items: readonly T[], item: T, keyOf: (item: T) => string): readonly T[] {
  const at = items.findIndex((each) => keyOf(each) === keyOf(item));
  return at === -1 ? [...items, item] : items.with(at, item);
}

function addedBy({ annotations }: BoundTemplate, id: string): Added {
  // Only this code writes the annotation; a damaged one counts as empty.
  return parsed<Added>(annotations[recordKey(id)], {});
}

function addedRoots({ annotations }: BoundTemplate): readonly string[] {
  return parsed<readonly string[]>(annotations[rootKey], []);
}

function parsed<T>(text: string | undefined, otherwise: T): T {
  try {
    return text === undefined ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}
