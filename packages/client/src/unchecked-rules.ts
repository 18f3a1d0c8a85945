/** Leaves a note of the server that is no error out of the message of a refusal. */
import { ApiError } from "@setpoint/apimachinery";

/** Beside the errors of the schema, a server whose kind has CEL rules lists that it did not check these. */
const notePattern =
  /, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation(?=\])/;

export function listsUncheckedRules({ code, message }: ApiError): boolean {
  return code === 422 && notePattern.test(message);
}

/** The same refusal with the errors alone. The causes in its details stay as they are. */
export function withoutUncheckedRules(answered: ApiError): ApiError {
  const { message, status } = answered;
  const errors = message.replace(notePattern, "");
  const isOne = (status.details?.causes ?? []).length === 2;
  const short = isOne ? errors.replace(/ is invalid: \[(.*)\]$/s, " is invalid: $1") : errors;
  return new ApiError({ ...status, message: short }, { cause: answered });
}
