import { expect, test } from "vitest";
import { TerminalSizeReader } from "./terminal-size.ts";

const read = (...chunks: readonly string[]): unknown => {
  const reader = new TerminalSizeReader();
  return chunks.flatMap((chunk) => reader.read(Buffer.from(chunk)));
};

test.each([
  ["one size", ['{"Width":80,"Height":24}\n'], [{ columns: 80, rows: 24 }]],
  [
    "several at once",
    ['{"Width":80,"Height":24}\n{"Width":81,"Height":25}\n'],
    [
      { columns: 80, rows: 24 },
      { columns: 81, rows: 25 },
    ],
  ],
  ["a size in pieces", ['{"Width":8', '0,"Height":24', "}\n"], [{ columns: 80, rows: 24 }]],
  ["no size", ['{"Width":0,"Height":24}\n{"Width":"80"}\nnonsense}'], []],
  ["a size after no size", ['nonsense}{"Width":80,"Height":24}'], [{ columns: 80, rows: 24 }]],
  ["a size that no terminal has", ['{"Width":80,"Height":70000}'], []],
])("TerminalSizeReader reads %s", (_, chunks, sizes) => {
  expect(read(...chunks)).toEqual(sizes);
});
