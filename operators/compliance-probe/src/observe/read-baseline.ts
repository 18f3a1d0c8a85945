/** The accepted acts in a ConfigMap. */
import { parse } from "yaml";
import { z } from "zod";
import { acceptedAct, type AcceptedAct, acceptedMax } from "../kind/accepted.ts";

const isTime = ({ until }: AcceptedAct): boolean => until === undefined || !Number.isNaN(Date.parse(until));
const checked = acceptedAct.refine(isTime, "until: expected a time such as 2027-01-31T00:00:00Z");
const schema = z.array(checked).max(acceptedMax);

/** The list, or a sentence that says what is wrong with it. */
export function parseBaseline(text: string): readonly AcceptedAct[] | string {
  try {
    const parsed = schema.safeParse(parse(text) ?? []);
    return parsed.success ? parsed.data : firstIssue(parsed.error);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function firstIssue({ issues: [issue] }: z.ZodError): string {
  return issue === undefined ? "it is no list" : `${issue.path.join(".")}: ${issue.message}`;
}
