/**
 * Wires custom resources into an API server: the strategy of CRDs before it exists, the resources that they
 * define after.
 */
import type { Host } from "@setpoint/host";
import type { RuleCompiler } from "@setpoint/schema";
import { celRuleCompiler } from "@setpoint/schema/cel";
import type { AdmissionPlugin, AdmissionRequest } from "../registry/admission-plugin.ts";
import type { ApiServer } from "./api-server.ts";
import type { ResourceDefinition, Strategy } from "../registry/resource-definition.ts";
import { unknownResource } from "../response/api-errors.ts";
import type { Storage } from "../storage/storage.ts";
import { conversionWebhook } from "../webhook/conversion-webhook.ts";
import type { WebhookCaller } from "../webhook/webhook-caller.ts";
import { createCrdStrategy } from "../registry/crd/crd-strategy.ts";
import { CustomResources } from "../registry/crd/custom-resources.ts";

/** What serving custom resources needs in addition to the server. */
export interface ServeCustomResourcesOptions {
  readonly host: Host;
  readonly storage: Storage;
  /** Understands validation rules. Default: CEL. */
  readonly compileRules?: RuleCompiler;
  /** Calls conversion webhooks; without it, versions of a kind differ only in their name. */
  readonly caller?: WebhookCaller;
}

/** The built-in resources with the strategy of CRDs, which goes beyond what a table of kinds can hold. */
export function withCrdStrategy(
  builtin: readonly ResourceDefinition[],
  compileRules: RuleCompiler = celRuleCompiler,
): readonly ResourceDefinition[] {
  const own = createCrdStrategy({ compileRules });
  return builtin.map((each) =>
    each.group === "apiextensions.k8s.io" && each.resource === "customresourcedefinitions"
      ? { ...each, strategy: combined(each.strategy, own) }
      : each,
  );
}

/** Serves the resources of all stored CRDs from now on; stop it before the storage is closed. */
export function serveCustomResources(server: ApiServer, options: ServeCustomResourcesOptions): CustomResources {
  const { host, storage, compileRules = celRuleCompiler, caller } = options;
  const { clock, log, random } = host;
  const stopped = new AbortController();
  const custom = new CustomResources({
    storage,
    registry: server.registry,
    clock,
    log,
    compileRules,
    ...(caller === undefined
      ? {}
      : {
          convertBy: (config) => conversionWebhook(config, { caller, clock, random, signal: stopped.signal }),
          onStop: () => stopped.abort(new Error("the API server stops")),
        }),
    onReplaced: (resource) => server.endWatches(resource),
  });
  custom.start();
  server.addAdmission(createdInTime(custom));
  return custom;
}

/**
 * The CRD may go with all its objects while a write is decided; an object that is created then would be there
 * again when a CRD of that name comes.
 */
function createdInTime(custom: CustomResources): AdmissionPlugin {
  const isLate = ({ operation, definition }: AdmissionRequest): boolean =>
    operation === "CREATE" && definition.custom && !custom.takesObjects(definition);
  return {
    name: "CustomResourceLifecycle",
    // One that is only going is refused by its kind's own strategy, in upstream's words.
    async admit({ definition }) {
      if (definition.custom && !custom.serves(definition)) throw unknownResource();
    },
    stillHolds: (request) => !isLate(request),
  };
}

/** What all kinds share comes first, so that what CRDs add is not undone. */
function combined(base: Strategy, own: Strategy): Strategy {
  return {
    ...base,
    ...own,
    setDefaults: (object) => {
      base.setDefaults?.(object);
      own.setDefaults?.(object);
    },
    prepareForCreate: (object, context) => {
      base.prepareForCreate?.(object, context);
      own.prepareForCreate?.(object, context);
    },
  };
}
