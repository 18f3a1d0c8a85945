/** What an author says about requests for a kind before the server accepts them. */
import type { KubeObject, LabelSelectorObject, UserInfo } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";

/** The operations for which the API server can call a webhook of this package. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** What is known of a request, and how to object to it. */
export interface AdmissionContext<T extends KubeObject> {
  readonly operation: AdmissionOperation;
  /** The object before an update; absent otherwise. */
  readonly old: Stored<T> | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Aborts shortly before the API server stops waiting. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Tells the user without refusing; kubectl prints it. */
  warn(this: void, text: string): void;
  /** Objects to the value of a field: `invalid("spec.replicas", "must be odd")`. All objections are answered together. */
  invalid(this: void, path: string, why: string): void;
  required(this: void, path: string, why?: string): void;
  forbidden(this: void, path: string, why: string): void;
}

/** The functions of the webhooks of one kind, and how the API server calls them. */
export interface WebhookInit<T extends KubeObject> {
  /** Asked about new and changed objects, after defaults and schema. Objects by the context's methods, or throws an ApiError. */
  validate?(object: T, context: AdmissionContext<T>): void | Promise<void>;
  /** Asked before an object is deleted. */
  validateDelete?(object: T, context: AdmissionContext<T>): void | Promise<void>;
  /** Returns the object as it should be, or nothing. It may be asked several times and must then change nothing more. */
  mutate?(object: T, context: AdmissionContext<T>): T | undefined | Promise<T | undefined>;
  /** What counts when nobody answers; default Fail. */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** How long the API server waits; default 5, at most 30. */
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  /** Conditions in CEL without which the webhook is not called at all. */
  readonly matchConditions?: readonly { readonly name: string; readonly expression: string }[];
}

/** Whether a webhook validates objects or mutates them. */
export type WebhookRole = "validate" | "mutate";

/** Made by `webhooks`. */
export interface WebhookDefinition {
  readonly kind: KindRef;
  readonly operations: {
    readonly validate: readonly AdmissionOperation[];
    readonly mutate: readonly AdmissionOperation[];
  };
  readonly failurePolicy: "Fail" | "Ignore";
  readonly timeoutSeconds: number;
  readonly namespaceSelector: LabelSelectorObject | undefined;
  readonly objectSelector: LabelSelectorObject | undefined;
  readonly matchConditions: readonly { readonly name: string; readonly expression: string }[];
  /** Calls the author's function; the object of a mutation, if it is another one. */
  ask(role: WebhookRole, object: KubeObject, context: AdmissionContext<KubeObject>): Promise<KubeObject | undefined>;
}

/** Less than the server's default of 10 s: kubectl should fail while the user still waits for it. */
const timeoutSecondsDefault = 5;

/** The webhooks of one kind: `webhooks(PodSet, { validate(podSet, { invalid }) { … } })`. */
export function webhooks<T extends KubeObject>(kind: KindRef<T>, init: WebhookInit<T>): WebhookDefinition {
  const { failurePolicy = "Fail", timeoutSeconds = timeoutSecondsDefault, matchConditions = [] } = init;
  const changing: readonly AdmissionOperation[] = ["CREATE", "UPDATE"];
  return {
    kind,
    operations: {
      validate: [
        ...(init.validate === undefined ? [] : changing),
        ...(init.validateDelete === undefined ? [] : (["DELETE"] as const)),
      ],
      mutate: init.mutate === undefined ? [] : changing,
    },
    failurePolicy,
    timeoutSeconds,
    namespaceSelector: init.namespaceSelector,
    objectSelector: init.objectSelector,
    matchConditions,
    async ask(role, object, context) {
      // The API server asks about objects of this kind alone, checked by its schema.
      const [typed, known] = [object as T, context as unknown as AdmissionContext<T>];
      if (role === "mutate") return init.mutate?.(typed, known);
      await (context.operation === "DELETE" ? init.validateDelete?.(typed, known) : init.validate?.(typed, known));
      return undefined;
    },
  };
}
