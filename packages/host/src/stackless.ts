/**
 * Makes an error that has no stack. For errors that are ordinary answers: where they were made tells nobody anything, and finding it
 * out costs more than the rest of the answer.
 */
export function stackless<E extends Error>(make: () => E): E {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = limit;
  }
}
