/** The author's functions for requests to a kind before the server accepts them. */
import type { KubeObject, LabelSelectorObject, UserInfo } from "@setpoint/apimachinery";
import type { KindRef, Stored } from "@setpoint/client";
import type { Logger } from "@setpoint/host";

/** The operations for which the API server can call a webhook of this package. */
export type AdmissionOperation = "CREATE" | "UPDATE" | "DELETE";

/** The request of a webhook, and functions to reject it. */
export interface AdmissionContext<T extends KubeObject> {
  readonly operation: AdmissionOperation;
  /** The object before an update; absent otherwise. */
  readonly old: Stored<T> | undefined;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  /** Aborts shortly before the API server stops waiting. */
  readonly signal: AbortSignal;
  readonly log: Logger;
  /** Warns the user without a rejection; kubectl prints it. */
  warn(this: void, text: string): void;
  /**
   * Rejects the value of a field: `invalid("spec.replicas", "must be odd")`. One answer reports all rejected
   * fields.
   */
  invalid(this: void, path: string, why: string): void;
  required(this: void, path: string, why?: string): void;
  forbidden(this: void, path: string, why: string): void;
}

/** The functions of the webhooks of one kind, and how the API server calls them. */
export interface WebhookInit<T extends KubeObject> {
  /**
   * Called for created and updated objects, after defaults and schema. Rejects by the context's methods, or
   * throws an ApiError.
   */
  validate?(object: T, context: AdmissionContext<T>): void | Promise<void>;
  /** Called before an object is deleted. */
  validateDelete?(object: T, context: AdmissionContext<T>): void | Promise<void>;
  /**
   * Returns the mutated object, or nothing. The server may call it several times; later calls must change
   * nothing more.
   */
  mutate?(object: T, context: AdmissionContext<T>): T | undefined | Promise<T | undefined>;
  /** What the API server does when the webhook does not answer; default Fail. */
  readonly failurePolicy?: "Fail" | "Ignore";
  /** How long the API server waits, in seconds; default 5, at most 30. */
  readonly timeoutSeconds?: number;
  readonly namespaceSelector?: LabelSelectorObject;
  readonly objectSelector?: LabelSelectorObject;
  /** CEL match conditions: when one is false, the server does not call the webhook. */
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
