/** Which AlertmanagerConfigs an Alertmanager uses, and the keys that they name; pure. */
import type { AssetKey } from "../generate/assets.ts";
import { given } from "../generate/generation.ts";
import type { Alertmanager } from "../kind/alertmanager.ts";
import type { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { type Labelled, selectedBy } from "../select/selection.ts";
import { keysOfConfig, keysOfGlobal } from "./config-keys.ts";

export interface ChosenConfigs<T> {
  readonly configs: readonly T[];
  readonly root: T | undefined;
}

/** The root is not one of the others too. */
export function chooseConfigs<T extends AlertmanagerConfig>(
  alertmanager: Alertmanager,
  objects: readonly T[],
  namespaces: readonly Labelled[],
): ChosenConfigs<T> {
  const { metadata, spec } = alertmanager;
  const rootName = given(spec.alertmanagerConfiguration?.name);
  const isRoot = ({ metadata: of }: T): boolean =>
    rootName !== undefined && of.name === rootName && of.namespace === metadata.namespace;
  const selectors = { objects: spec.alertmanagerConfigSelector, namespaces: spec.alertmanagerConfigNamespaceSelector };
  return {
    root: objects.find(isRoot),
    configs: selectedBy(alertmanager, selectors, objects, namespaces).filter((object) => !isRoot(object)),
  };
}

/** Without a selector and a root, the user writes the whole configuration. */
export function isGenerated({ spec }: Alertmanager): boolean {
  return spec.alertmanagerConfigSelector !== undefined || spec.alertmanagerConfiguration !== undefined;
}

export function keysOfAlertmanager(
  alertmanager: Alertmanager,
  root: AlertmanagerConfig | undefined,
  configs: readonly AlertmanagerConfig[],
): readonly AssetKey[] {
  const objects = root === undefined ? configs : [root, ...configs];
  return [...keysOfGlobal(alertmanager), ...objects.flatMap(keysOfConfig)].map(({ asset }) => asset);
}
