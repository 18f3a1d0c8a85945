import { expect, test } from "vitest";
import { parseSignal } from "./signals.ts";

test.each([
  ["SIGQUIT", 3],
  ["quit", 3],
  ["3", 3],
  ["SIGRTMIN+3", 37],
  ["SIGRTMAX-1", 63],
  ["SIGNONE", undefined],
  ["0", undefined],
  ["99", undefined],
])("the stop signal %s of an image is %s", (text, number) => expect(parseSignal(text)).toBe(number));
