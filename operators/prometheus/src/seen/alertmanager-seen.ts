/** One snapshot of an Alertmanager and of everything that its configuration is made of. */
import type { Stored } from "setpoint";
import type { StatefulSet } from "setpoint/kinds";
import type { Assets } from "../generate/assets.ts";
import type { Alertmanager } from "../kind/alertmanager.ts";
import type { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import type { SeenPod } from "./seen.ts";

export interface AlertmanagerSeen {
  readonly alertmanager: Stored<Alertmanager>;
  readonly base: BaseFiles;
  /** Selected, valid or not. */
  readonly configs: readonly Stored<AlertmanagerConfig>[];
  /** The one that `spec.alertmanagerConfiguration` names, if it exists. */
  readonly root: Stored<AlertmanagerConfig> | undefined;
  /** The keys that the objects name, as far as they exist. */
  readonly assets: Assets;
  readonly statefulSets: readonly Stored<StatefulSet>[];
  readonly pods: readonly SeenPod[];
  /** Of the Service that all Alertmanagers of the namespace share. */
  readonly servicePortName: string;
}

/** What the user keeps in the Secret. */
export interface BaseFiles {
  /** Undefined when the user has given none. */
  readonly configuration: string | undefined;
  /** Templates and others, in base64. */
  readonly files: Readonly<Record<string, string>>;
}
