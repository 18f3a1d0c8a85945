import type { Transport } from "@setpoint/apimachinery";
import type { Host } from "@setpoint/host";
import { startManager, type CacheOptions, type Manager } from "@setpoint/runtime";
import type { Operator } from "./operator.ts";
import { tenureOptions } from "./tenure-options.ts";

/** What an operator needs to run: a transport, a host and its settings. */
export interface RunOptions {
  readonly transport: Transport;
  readonly host: Host;
  /** Namespaces whose objects are looked at; absent: all. */
  readonly namespaces?: readonly string[];
  /** What is cached, and how: selections and projections by kind. */
  readonly caches?: CacheOptions;
  /** The namespace of the lease; absent: this process is the only one and needs none. */
  readonly leaseNamespace?: string;
  /** This process among its equals, for instance the pod's name. */
  readonly identity?: string;
}

/** Starts an operator; the CustomResourceDefinitions of its kinds must be installed. */
export function runOperator(operator: Operator, options: RunOptions): Manager {
  const { transport, host, namespaces, caches, leaseNamespace, identity } = options;
  return startManager({
    name: operator.name,
    controllers: operator.controllers,
    transport,
    host,
    ...(namespaces === undefined ? {} : { namespaces }),
    ...(caches === undefined ? {} : { caches }),
    ...(leaseNamespace === undefined ? {} : tenureOptions(operator, leaseNamespace, identity)),
  });
}
