/** Writes into AlertmanagerConfigs which Alertmanagers use them, and whether they accept them. */
import { timestamp } from "@setpoint/host";
import {
  controller,
  keyOf,
  type KubeObject,
  type ReconcileContext,
  type Result,
  type Stored,
  watching,
} from "setpoint";
import { Namespace } from "setpoint/kinds";
import { anyOf, generationChanged, labelsChanged } from "setpoint/sources";
import { ConfigurationRefused, given } from "../generate/generation.ts";
import { defaultAlertmanagerVersion, parseVersion } from "../generate/version.ts";
import { Alertmanager } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { defaultConfiguration } from "../notification/base-configuration.ts";
import { chooseConfigs, keysOfAlertmanager } from "../notification/choose-configs.ts";
import { generateNotification } from "../notification/configuration.ts";
import { readBase } from "../observe/observe-alertmanager.ts";
import { readAssets } from "../observe/read-assets.ts";
import type { Refusal } from "../select/refusal.ts";
import { acceptedBinding, type Binding } from "./bindings.ts";

/** Nothing tells of a Secret that is created later. */
const recheckMs = 60_000;

type Kind<T> = Parameters<typeof watching<T & KubeObject>>[0];

function wakingAll<T extends KubeObject>(kind: Kind<T>): ReturnType<typeof watching<T>> {
  return watching<T>(kind, (_, cache) => cache.list(AlertmanagerConfig, { allNamespaces: true }).map(keyOf), {
    // What an Alertmanager reports in its status does not matter here.
    predicate: anyOf<T>(generationChanged<T>(), labelsChanged<T>()),
  });
}

export const alertmanagerBindings: ReturnType<typeof controller> = controller(AlertmanagerConfig, {
  watches: [wakingAll<Alertmanager>(Alertmanager), wakingAll<Namespace>(Namespace)],
  reconcile: bind,
});

async function bind(object: Stored<AlertmanagerConfig>, context: ReconcileContext): Promise<Result> {
  const namespaces = context.list(Namespace, { allNamespaces: true });
  const using = context
    .list(Alertmanager, { allNamespaces: true })
    .filter((alertmanager) => isUsedBy(alertmanager, object, namespaces))
    .toSorted((a, b) => (pathOf(a) < pathOf(b) ? -1 : 1));
  const now = timestamp(context.host.clock);
  const bindings: Binding[] = [];
  for (const alertmanager of using) {
    const { name, namespace } = alertmanager.metadata;
    const refusal = await refusalBy(alertmanager, object, context);
    bindings.push(
      acceptedBinding({ resource: "alertmanagers", name, namespace: namespace ?? "" }, refusal, object, now),
    );
  }
  const hadNone = (object.status?.bindings ?? []).length === 0;
  if (!(hadNone && bindings.length === 0)) await context.status({ bindings });
  const isRefused = bindings.some(({ conditions }) => conditions?.some(({ status }) => status === "False"));
  return isRefused ? context.requeueAfter(recheckMs, "check it again") : context.awaitChange();
}

function pathOf({ metadata }: Stored<Alertmanager>): string {
  return `${metadata.namespace ?? ""}/${metadata.name}`;
}

function isUsedBy(
  alertmanager: Stored<Alertmanager>,
  object: Stored<AlertmanagerConfig>,
  namespaces: readonly Stored<Namespace>[],
): boolean {
  const { configs, root } = chooseConfigs(alertmanager, [object], namespaces);
  return root !== undefined || configs.length > 0;
}

/** Of the object alone, beside the settings of the Alertmanager. */
async function refusalBy(
  alertmanager: Stored<Alertmanager>,
  object: Stored<AlertmanagerConfig>,
  context: ReconcileContext,
): Promise<Refusal | undefined> {
  const all = context.list(AlertmanagerConfig, { allNamespaces: true });
  const { root } = chooseConfigs(alertmanager, all, []);
  const isRoot = root !== undefined && root.metadata.uid === object.metadata.uid;
  const configs = isRoot ? [] : [object];
  const version = parseVersion(given(alertmanager.spec.version) ?? defaultAlertmanagerVersion);
  if (version === undefined)
    return { field: "spec.version", message: `that of Alertmanager "${pathOf(alertmanager)}" is none` };
  const { configuration } = await readBase(alertmanager, context);
  const sources = {
    ...{ alertmanager, version, configs, base: given(configuration) ?? defaultConfiguration },
    assets: await readAssets(keysOfAlertmanager(alertmanager, root, configs), context),
    ...(root === undefined ? {} : { root }),
  };
  try {
    return generateNotification(sources).rejected[0]?.refusal;
  } catch (error) {
    if (!(error instanceof ConfigurationRefused)) throw error;
    return { field: error.field, message: error.message };
  }
}
