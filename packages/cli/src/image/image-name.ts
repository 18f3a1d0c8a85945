import { SetpointError } from "@setpoint/apimachinery";
import { usageError } from "../command.ts";

/** The value of `--image` or of another flag: a script's variable that is not set gives an empty one. */
export function parseImage(text: string | undefined, flag = "image"): string | undefined {
  if (text === undefined || /^\S+$/.test(text)) return text;
  const expected = "expected a name such as registry.example.com/candy:1.2";
  throw new SetpointError(usageError, `Cannot use --${flag} "${text}": ${expected}`);
}
