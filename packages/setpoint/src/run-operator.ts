import type { Transport } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import {
  startManager,
  type CacheOptions,
  type DryRunReport,
  type Manager,
  type ManagerOptions,
} from "@setpoint/runtime";
import type { Operator } from "./operator.ts";
import type { RunSettings } from "./run-settings.ts";
import { tenureOptions } from "./tenure-options.ts";

/** What an operator needs to run: a transport, a host and its settings. */
export interface RunOptions {
  readonly transport: Transport;
  readonly host: Host;
  /** Namespaces whose objects are looked at; absent: all. */
  readonly namespaces?: readonly string[];
  /** In place of the operator's own: what is cached, and how. */
  readonly caches?: CacheOptions;
  /** The namespace of the lease; absent: this process is the only one and needs none. */
  readonly leaseNamespace?: string;
  /** This process among its equals, for instance the pod's name. */
  readonly identity?: string;
  /**
   * For a transport that only pretends to write, such as `overlayTransport`: nothing outside of the API is
   * changed either.
   */
  readonly dryRun?: DryRunReport;
}

/** Starts an operator; the CustomResourceDefinitions of its kinds must be installed. */
export function runOperator(operator: Operator, options: RunOptions): Manager {
  const { run: settings = {} } = operator;
  const { transport, host, namespaces, caches = settings.caches, leaseNamespace, identity, dryRun } = options;
  const manager = startManager({
    name: operator.name,
    controllers: operator.controllers,
    transport,
    host,
    ...managerSettings(settings),
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(caches === undefined ? {} : { caches }),
    ...(dryRun === undefined ? {} : { dryRun }),
    ...(leaseNamespace === undefined ? {} : tenureOptions(operator, leaseNamespace, identity)),
  });
  settings.started?.(manager);
  return manager;
}

/** The settings that the manager takes as they are. */
export function managerSettings({ clusters, health }: RunSettings): Pick<ManagerOptions, "clusters" | "health"> {
  return { ...(clusters === undefined ? {} : { clusters }), ...(health === undefined ? {} : { health }) };
}
