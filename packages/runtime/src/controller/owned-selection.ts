/** Kinds of which a controller owns a part: the objects with certain labels. */
import { parseLabelSelector, type KubeObject } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { TerminalError } from "../errors.ts";
import { isSameKind } from "./same-kind.ts";

/** The part of a kind that a controller owns. The cache holds no other objects of the kind. */
export interface OwnedSelection<T extends KubeObject = KubeObject> {
  readonly kind: KindRef<T>;
  /** As in `kubectl get -l`. Each child of the kind must have labels that match. */
  readonly labelSelector: string;
}

/** A kind that a controller owns, whole or in part. */
export type OwnedKind<T extends KubeObject = KubeObject> = KindRef<T> | OwnedSelection<T>;

export function kindOf(owned: OwnedKind): KindRef {
  return isSelection(owned) ? owned.kind : owned;
}

/** Those that are owned in part. */
export function selectionsOf(owned: readonly OwnedKind[]): readonly OwnedSelection[] {
  return owned.filter(isSelection);
}

/** The `kind` of a kind is its name. An entry may be undefined when modules import each other in a circle. */
function isSelection(owned: OwnedKind | undefined): owned is OwnedSelection {
  return owned !== undefined && typeof owned.kind !== "string";
}

/** The selector of a kind; undefined when it is owned whole, or not at all. */
export function ownedSelectorOf(selections: readonly OwnedSelection[] | undefined, kind: KindRef): string | undefined {
  return selections?.find((each) => isSameKind(each.kind, kind))?.labelSelector;
}

/**
 * Throws for a child that the cache would not show: it would be applied again in each run, and never deleted.
 */
export function assertSelected(
  controller: string,
  selections: readonly OwnedSelection[] | undefined,
  kind: KindRef,
  { metadata }: KubeObject,
): void {
  const selector = ownedSelectorOf(selections, kind);
  if (selector === undefined || parseLabelSelector(selector).matches(metadata.labels ?? {})) return;
  const labels = JSON.stringify(metadata.labels ?? {});
  throw new TerminalError(
    `Cannot write ${kind.kind} "${metadata.name ?? ""}": its labels ${labels} do not match "${selector}", by which controller "${controller}" owns ${kind.kind}; add the labels`,
  );
}
