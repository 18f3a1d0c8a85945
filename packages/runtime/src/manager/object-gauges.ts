/** Publishes the gauges and conditions of a controller's objects when metrics are scraped. */
import type { KubeObject } from "@setpoint/apimachinery";
import type { Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import type { ObjectMetrics } from "../controller/object-metrics.ts";
import { conditionsOf } from "../status/conditions.ts";

const conditionName = "setpoint_object_condition";
const conditionHelp = "A condition of an object: 1 is True, 0 False, -1 Unknown.";
const conditionValues: Readonly<Record<string, number>> = { True: 1, False: 0, Unknown: -1 };

export interface ObjectGaugesOptions {
  readonly host: Host;
  /** The names of the controller and of its kind. */
  readonly controller: string;
  readonly kind: string;
  readonly metrics: ObjectMetrics;
  objects(this: void): Iterable<Stored<KubeObject>>;
}

/** The returned function ends the publication and drops what was published. */
export function publishObjectGauges(options: ObjectGaugesOptions): () => void {
  const { host, controller, kind, objects } = options;
  // Everything is dropped first, so that no series of an object or a condition that is gone stays.
  const forget = (): void => host.metrics.forget({ controller, kind });
  const stop = host.metrics.onExpose(() => {
    forget();
    for (const object of objects()) publish(object, options);
  });
  return () => {
    stop();
    forget();
  };
}

function publish(object: Stored<KubeObject>, { host, controller, kind, metrics }: ObjectGaugesOptions): void {
  const { namespace = "", name } = object.metadata;
  const labels = { controller, kind, namespace, name };
  const status = "status" in object ? object.status : undefined;
  for (const { type, status: value } of conditionsOf(status))
    host.metrics.gauge(conditionName, conditionHelp).set(conditionValues[value] ?? -1, { ...labels, type });
  const values = metrics.values(object, host.clock.now());
  for (const [gauge, help] of Object.entries(metrics.gauges)) {
    const value = values[gauge];
    if (value !== undefined) host.metrics.gauge(gauge, help).set(value, labels);
  }
}
