/** Checks what the operator says to a pooler. */
import type { DesiredPooler, PoolerSettings } from "../../instance/pooler-protocol.ts";
import { integerIn, objectIn, objectOf, textIn } from "../inner/parse-fields.ts";
import { Refusal } from "../refusal.ts";

const modes: readonly string[] = [
  "session",
  "transaction",
  "statement",
] satisfies readonly PoolerSettings["poolMode"][];
/** A line break would begin another setting. */
const oneLine = /^[^\r\n\0]*$/;

export function parseDesiredPooler(value: unknown): DesiredPooler {
  const fields = objectOf(value, "the document");
  const settings = objectIn(fields, "settings");
  const parameters = objectIn(settings, "parameters");
  return {
    term: integerIn(fields, "term"),
    host: lineOf(textIn(fields, "host"), "host"),
    settings: {
      poolMode: modeOf(textIn(settings, "poolMode")),
      parameters: Object.fromEntries(
        Object.keys(parameters).map((name) => [lineOf(name, name), lineOf(textIn(parameters, name), name)]),
      ),
    },
    ...(fields["pauseMs"] === undefined ? {} : { pauseMs: integerIn(fields, "pauseMs") }),
  };
}

function modeOf(text: string): PoolerSettings["poolMode"] {
  if (modes.includes(text)) return text as PoolerSettings["poolMode"];
  throw new Refusal(400, `Cannot read poolMode: expected one of ${modes.join(", ")}`);
}

function lineOf(text: string, what: string): string {
  if (oneLine.test(text)) return text;
  throw new Refusal(400, `Cannot read ${what}: expected one line`);
}
