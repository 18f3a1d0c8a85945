/** A field that this node cannot honour. */
export interface Refusal<T> {
  readonly field: string;
  readonly reason: string;
  isAsked(from: T): boolean;
}

export const noHostRights = "a pod is a machine of its own and gets no rights over its node";
