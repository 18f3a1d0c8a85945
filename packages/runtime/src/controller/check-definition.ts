/**
 * Refuses controllers that cannot do what their author wants, where they are declared and in the author's
 * words.
 */
import { messageOf, parseLabelSelector, SetpointError } from "@setpoint/apimachinery";
import type { KindRef } from "@setpoint/client";
import { errControllerInvalid } from "../errors.ts";
import { checkCount, checkMs } from "./check-number.ts";
import type { ControllerDefinition } from "./controller-definition.ts";
import { isSameKind } from "./same-kind.ts";

/** A finalizer and an annotation carry the name. */
const namePattern = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,48}[A-Za-z0-9])?$/u;
const finalizerPattern = /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?\/[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/u;

export function checkDefinition(definition: ControllerDefinition): ControllerDefinition {
  const { name, finalizer, concurrency, timeoutMs, maxReconcileIntervalMs, rateLimit } = definition;
  const where = `controller "${name}"`;
  if (!namePattern.test(name))
    refuse(where, `its name is not one; expected 1 to 50 letters, digits, ".", "-" or "_", such as "candy"`);
  if (definition.hasCleanup && !finalizerPattern.test(finalizer))
    refuse(where, `its finalizer "${finalizer}" is not qualified; expected a name such as "example.com/${name}"`);
  checkCount(where, "concurrency", concurrency);
  if (timeoutMs !== undefined) checkMs(where, "timeoutMs", timeoutMs);
  if (maxReconcileIntervalMs !== undefined) checkMs(where, "maxReconcileIntervalMs", maxReconcileIntervalMs);
  if (rateLimit !== undefined) checkMs(where, "rateLimit.minIntervalMs", rateLimit.minIntervalMs);
  if (rateLimit?.burst !== undefined) checkCount(where, "rateLimit.burst", rateLimit.burst);
  checkLimits(where, definition);
  checkKinds(where, definition);
  checkSources(where, definition);
  return definition;
}

function checkLimits(where: string, { limits = {} }: ControllerDefinition): void {
  const { deletesPerMinute, childrenChangedShare, idleRunsPerMinute } = limits;
  if (deletesPerMinute !== undefined) checkCount(where, "limits.deletesPerMinute", deletesPerMinute);
  if (childrenChangedShare !== undefined && !(childrenChangedShare > 0 && childrenChangedShare <= 1))
    refuse(
      where,
      `limits.childrenChangedShare is ${childrenChangedShare}; expected a share, more than 0 and at most 1`,
    );
  if (idleRunsPerMinute !== undefined && idleRunsPerMinute !== Number.POSITIVE_INFINITY)
    checkCount(where, "limits.idleRunsPerMinute", idleRunsPerMinute);
}

function checkKinds(where: string, { kind, owns, ownedSelections = [], watches, select }: ControllerDefinition): void {
  const isOwned = (wanted: KindRef): boolean => owns.some((each) => isSameKind(each, wanted));
  for (const [index, each] of owns.entries()) {
    if (each === undefined) refuse(where, "`owns` has an undefined entry; is a module imported in a circle?");
    if (isSameKind(each, kind))
      refuse(
        where,
        `it owns its own kind ${each.kind}, so that every ${each.kind} would be the child of one; leave it out of \`owns\``,
      );
    if (owns.findIndex((other) => isSameKind(other, each)) < index)
      refuse(where, `\`owns\` names ${each.kind} twice; once is enough`);
  }
  for (const { of, wakes, labelSelector, fieldSelector } of watches) {
    const isSelected = labelSelector !== undefined || fieldSelector !== undefined;
    if (isOwned(of) && wakes === undefined)
      refuse(where, `it owns and watches ${of.kind}; owning watches already, so leave it out of \`watches\``);
    if (isOwned(of) && isSelected)
      refuse(
        where,
        `it owns ${of.kind} and watches a selection of it; a kind is cached once for a controller, so leave the selection out and choose in \`wakes\``,
      );
    if (
      isSameKind(of, kind) &&
      (isSelected || select.labelSelector !== undefined || select.fieldSelector !== undefined)
    )
      refuse(
        where,
        `it watches its own kind ${of.kind} by another selection; a kind is cached once for a controller, so leave the selection to \`select\``,
      );
  }
  for (const { kind: owned, labelSelector } of ownedSelections) checkSelector(where, owned, labelSelector);
  checkSameVersion(where, [kind, ...owns, ...watches.map(({ of }) => of)]);
}

function checkSelector(where: string, { kind }: KindRef, labelSelector: string): void {
  try {
    parseLabelSelector(labelSelector);
  } catch (error) {
    refuse(where, `the labelSelector "${labelSelector}" of ${kind} cannot be read: ${messageOf(error)}`);
  }
}

/** Two versions of a kind are two caches of the same objects that tell of a change at different times. */
function checkSameVersion(where: string, kinds: readonly KindRef[]): void {
  for (const { group, kind, version } of kinds) {
    const other = kinds.find((each) => each.kind === kind && each.group === group);
    if (other !== undefined && other.version !== version)
      refuse(where, `it uses ${kind} in the versions ${other.version} and ${version}; the server converts, so use one`);
  }
}

function checkSources(where: string, { sources = [] }: ControllerDefinition): void {
  const names = new Set<string>();
  for (const { name } of sources) {
    if (names.has(name)) refuse(where, `two of its sources are named "${name}"; give one a name of its own`);
    names.add(name);
  }
}

function refuse(where: string, problem: string): never {
  throw new SetpointError(errControllerInvalid, `Cannot use ${where}: ${problem}`);
}
