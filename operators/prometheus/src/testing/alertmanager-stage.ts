/** Alertmanagers on stage in the simulated world. Only tests import this. */
import { gunzipSync } from "node:zlib";
import { Secret } from "setpoint/kinds";
import { simulate, type World } from "setpoint/testing";
import { Alertmanager, type AlertmanagerSpec } from "../kind/alertmanager.ts";
import { AlertmanagerConfig } from "../kind/alertmanager-config.ts";
import type { LoadedGateway } from "../observe/loaded-gateway.ts";
import { prometheusOperator } from "../prometheus-operator.ts";
import { configurationHash } from "../reload/configuration-hash.ts";
import type { LoadedReport } from "../reload/reloader.ts";
import { image, programs } from "./prometheus-stage.ts";

export interface AlertmanagerStage {
  readonly world: World;
  /** The mounted Secret has changed; the server refuses it, with these words, or loads it. */
  load(refusal?: string): Promise<void>;
}

export async function setUpAlertmanager(seed: number): Promise<AlertmanagerStage> {
  let loaded: LoadedReport = {};
  const gateway: LoadedGateway = () => Promise.resolve(loaded);
  const operator = prometheusOperator(gateway, { image, options: { endpointSlices: true } });
  const world = await simulate({ seed, models: [programs], operators: [operator] });
  return {
    world,
    async load(refusal) {
      const hash = configurationHash(await configurationOf(world), new Map());
      const since = "2026-01-01T00:00:00Z";
      loaded = refusal === undefined ? { hash } : { ...loaded, failing: { hash, message: refusal, since } };
    },
  };
}

/** That of the Alertmanager "main". */
export async function configurationOf(world: World): Promise<string> {
  const secret = await world.get(Secret, "alertmanager-main-generated");
  return gunzipSync(Buffer.from(secret.data?.["alertmanager.yaml.gz"] ?? "", "base64")).toString();
}

export function alertmanager(spec: Partial<AlertmanagerSpec> = {}): Alertmanager {
  return Alertmanager({ name: "main", spec });
}

/** The user's Secret. */
export function configuration(text: string): Secret {
  return Secret({ name: "alertmanager-main", data: { "alertmanager.yaml": Buffer.from(text).toString("base64") } });
}

/** With one webhook, to which all alerts go. */
export function config(name: string, webhook: object): AlertmanagerConfig {
  const receivers = [{ name: "hook", webhookConfigs: [webhook] }];
  return AlertmanagerConfig({ name, spec: { route: { receiver: "hook" }, receivers } });
}
