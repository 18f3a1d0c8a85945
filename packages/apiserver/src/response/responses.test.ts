import { expect, test } from "vitest";
import { parse } from "yaml";
import { respond } from "./responses.ts";

async function yamlOf(object: unknown): Promise<string> {
  const answer = respond(200, object, {}, true);
  if (answer.kind !== "bytes") throw new Error(`a ${answer.kind} answer`);
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of answer.bytes) text += decoder.decode(chunk, { stream: true });
  return text;
}

test("YAML means the same to who reads 1.1, as kubectl does, and has no aliases", async () => {
  const shared = { odd: "y", on: "off", time: "2026-01-01T00:00:00Z", octal: "012", none: "null" };
  const text = await yamlOf({ a: shared, b: shared });
  expect(parse(text, { version: "1.1" })).toEqual({ a: shared, b: shared });
  expect(text).not.toMatch(/[&*]/);
});
