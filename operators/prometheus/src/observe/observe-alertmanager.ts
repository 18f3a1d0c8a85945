/** Reads everything that the plan of an Alertmanager needs into one snapshot; changes nothing. */
import type { ReconcileContext, Stored } from "setpoint";
import { Namespace, Secret, StatefulSet } from "setpoint/kinds";
import { given } from "../generate/generation.ts";
import { Alertmanager } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import { chooseConfigs, keysOfAlertmanager } from "../notification/choose-configs.ts";
import type { AlertmanagerSeen, BaseFiles } from "../seen/alertmanager-seen.ts";
import { alertmanagerFile, alertmanagerLabel, alertmanagerName } from "../workload/alertmanager-names.ts";
import type { LoadedGateway } from "./loaded-gateway.ts";
import { observePods } from "./observe-pods.ts";
import { readAssets } from "./read-assets.ts";
import { sharedPortName } from "./shared-port.ts";

export async function observeAlertmanager(
  alertmanager: Stored<Alertmanager>,
  context: ReconcileContext,
  gateway: LoadedGateway,
): Promise<AlertmanagerSeen> {
  const { name } = alertmanager.metadata;
  const all = context.list(AlertmanagerConfig, { allNamespaces: true });
  const { configs, root } = chooseConfigs(alertmanager, all, context.list(Namespace, { allNamespaces: true }));
  return {
    alertmanager,
    base: await readBase(alertmanager, context),
    configs,
    root,
    assets: await readAssets(keysOfAlertmanager(alertmanager, root, configs), context),
    statefulSets: context.children.list(StatefulSet),
    pods: await observePods({ [alertmanagerLabel]: name }, context, gateway),
    servicePortName: sharedPortName(Alertmanager, alertmanager, context),
  };
}

/** The Secret is the user's, so the cache lacks it. */
export async function readBase(
  { metadata, spec }: Stored<Alertmanager>,
  { fresh }: ReconcileContext,
): Promise<BaseFiles> {
  const name = given(spec.configSecret) ?? alertmanagerName(metadata.name);
  const secret = await fresh(Secret, name, metadata.namespace);
  const { [alertmanagerFile]: base, ...files } = secret?.data ?? {};
  return { configuration: base === undefined ? undefined : Buffer.from(base, "base64").toString("utf8"), files };
}
