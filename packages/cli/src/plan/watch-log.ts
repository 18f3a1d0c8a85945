import type { LogFields, Logger } from "@setpoint/host";

/** Something that an operator said went wrong. */
export interface LoggedError {
  readonly message: string;
  readonly fields: LogFields;
}

/** Different errors that are kept. */
const errorsMax = 20;

/** A logger that also keeps each distinct error message and passes it to `onError`. */
export function watchLog(
  inner: Logger,
  onError: (error: LoggedError) => void = () => {},
): { readonly log: Logger; readonly errors: readonly LoggedError[] } {
  const errors: LoggedError[] = [];
  const seen = new Set<string>();
  const keep = (message: string, fields: LogFields): void => {
    const id = `${message} ${String(fields["error"] ?? fields["problem"])}`;
    if (seen.has(id) || errors.length >= errorsMax) return;
    seen.add(id);
    errors.push({ message, fields });
    onError({ message, fields });
  };
  const watched = (log: Logger, own: LogFields): Logger => ({
    debug: (message, fields) => log.debug(message, fields),
    info: (message, fields) => log.info(message, fields),
    warn: (message, fields) => log.warn(message, fields),
    error(message, fields) {
      keep(message, { ...own, ...fields });
      log.error(message, fields);
    },
    with: (fields) => watched(log.with(fields), { ...own, ...fields }),
  });
  return { log: watched(inner, {}), errors };
}
