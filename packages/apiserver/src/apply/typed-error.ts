/** A value that does not fit its schema, found while walking it for server-side apply. */
export class TypedError extends Error {
  override readonly name = "TypedError";
}
