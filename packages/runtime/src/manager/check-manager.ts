/** Refuses managers whose controllers would get in each other's way, before anything starts. */
import { SetpointError } from "@setpoint/apimachinery";
import { errControllerInvalid } from "../errors.ts";
import type { KindCacheOptions } from "../cache/cache-options.ts";
import { ownedSelectorOf } from "../controller/owned-selection.ts";
import { isSameKind } from "../controller/same-kind.ts";
import type { ControllerDefinition } from "../controller/controller-definition.ts";
import type { ManagerOptions } from "./manager-options.ts";

export function checkManager(options: ManagerOptions): void {
  const { name = "setpoint", controllers } = options;
  const doing = `start manager "${name}"`;
  checkControllers(doing, controllers);
  checkOwnedKinds(doing, options);
}

/**
 * Refuses controllers that cannot work in one process. `doing` says what cannot be done with them. Errors:
 * `ERR_CONTROLLER_INVALID`.
 */
export function checkControllers(doing: string, controllers: readonly ControllerDefinition[]): void {
  checkNames(doing, controllers);
  checkFieldManagers(doing, controllers);
}

function checkNames(doing: string, controllers: readonly ControllerDefinition[]): void {
  const names = new Set<string>();
  for (const { name } of controllers) {
    if (names.has(name)) refuse(doing, `two controllers have the name "${name}"; give one of them another \`name\``);
    names.add(name);
  }
}

/** By the field manager a controller tells which children of an object it has made itself. */
function checkFieldManagers(doing: string, controllers: readonly ControllerDefinition[]): void {
  const owners = new Map<string, string>();
  for (const { name, kind, fieldManager } of controllers) {
    const id = `${kind.group}/${kind.kind}/${fieldManager}`;
    const other = owners.get(id);
    if (other !== undefined)
      refuse(
        doing,
        `controllers "${other}" and "${name}" of ${kind.kind} both have the fieldManager "${fieldManager}", so that each would delete the other's children; give one of them another \`fieldManager\``,
      );
    owners.set(id, name);
  }
}

/** What a cache does not show would be made again and again, and never deleted. */
function checkOwnedKinds(doing: string, options: ManagerOptions): void {
  const entries = options.caches?.kinds ?? [];
  for (const { name, owns, ownedSelections } of options.controllers)
    for (const kind of owns) {
      // A controller's own selection goes before that of the cache.
      const isSelected = ownedSelectorOf(ownedSelections, kind) !== undefined;
      const same = entries.filter((each) => isSameKind(each.kind, kind));
      const settings = same.map((each) => partialSetting(each, isSelected));
      const setting = settings.findLast((each) => each !== undefined);
      if (setting !== undefined)
        refuse(
          doing,
          `\`caches\` keeps only a part of ${kind.kind} (${setting}), which controller "${name}" owns; it must see its children whole, so leave the setting out`,
        );
    }
}

function partialSetting(entry: KindCacheOptions, isSelected: boolean): string | undefined {
  const { labelSelector, fieldSelector, metadataOnly, transform } = entry;
  if (labelSelector !== undefined && !isSelected) return "labelSelector";
  if (fieldSelector !== undefined) return "fieldSelector";
  if (metadataOnly === true) return "metadataOnly";
  return transform === undefined ? undefined : "transform";
}

function refuse(doing: string, problem: string): never {
  throw new SetpointError(errControllerInvalid, `Cannot ${doing}: ${problem}`);
}
