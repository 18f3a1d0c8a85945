/** A field that this node cannot honour. */
export interface Refusal<T> {
  readonly field: string;
  readonly reason: string;
  /** It is honoured where the administrator gives pods rights over the host. */
  readonly needsHost?: true;
  isAsked(from: T): boolean;
}

export const noHostRights = { reason: "a pod gets no rights over its host", needsHost: true } as const;

/** What the author of the pod can do. */
export function adviceOn({ needsHost }: Pick<Refusal<never>, "needsHost">): string {
  return needsHost === true ? 'remove the field, or start "setpoint up" with --allow-host' : "remove the field";
}
