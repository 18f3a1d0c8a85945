import {
  gvkOf,
  SetpointError,
  type GroupVersionKind,
  type KubeObject,
  type UnstructuredObject,
} from "@setpoint/apimachinery";
import { errUnknownResource } from "./errors.ts";
import type { KindRef } from "./kind-ref.ts";

/** A resource as discovery describes it; usable wherever a kind is asked for. */
export interface DiscoveredResource extends KindRef<UnstructuredObject> {
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly string[];
  /** Whether this is the version that the server prefers for its group. */
  readonly preferred: boolean;
}

/** Finds resources by kind or by any of the names that kubectl accepts. */
export class RestMapper {
  readonly resources: readonly DiscoveredResource[];
  constructor(resources: readonly DiscoveredResource[]) {
    this.resources = resources;
  }

  /** The resource of a kind, undefined when the server does not serve it. */
  ofKind({ group, version, kind }: GroupVersionKind): DiscoveredResource | undefined {
    return this.resources.findLast((each) => each.kind === kind && each.group === group && each.version === version);
  }

  /** The resource of an object. */
  ofObject(object: Pick<KubeObject, "apiVersion" | "kind">): DiscoveredResource {
    const found = this.ofKind(gvkOf(object));
    if (found === undefined) throw unknownResource(`${object.apiVersion} ${object.kind}`);
    return found;
  }

  /** By plural, singular, kind or short name, in any case, with an optional `.group` or `.version.group`. */
  find(name: string): DiscoveredResource {
    const wanted = name.toLowerCase();
    const matches = this.resources.filter((each) => isNamed(each, wanted));
    const found = matches.find((each) => each.preferred) ?? matches[0];
    if (found === undefined) throw unknownResource(name);
    return found;
  }
}

function isNamed(resource: DiscoveredResource, wanted: string): boolean {
  const { group, version } = resource;
  const names = [resource.plural, resource.singular, resource.kind.toLowerCase(), ...resource.shortNames];
  return names.some(
    (name) =>
      name !== "" && (wanted === name || wanted === `${name}.${group}` || wanted === `${name}.${version}.${group}`),
  );
}

function unknownResource(name: string): SetpointError {
  return new SetpointError(errUnknownResource, `Cannot find resource "${name}": the server does not serve it`);
}
