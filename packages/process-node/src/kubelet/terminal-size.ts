/** The sizes of a terminal as clients send them: JSON objects, one after the other. */
import type { TerminalSize } from "../sandbox/terminal-relay.ts";

const sizeMax = 65_535;
/** More than this without an end is no size. */
const textLengthMax = 4_096;

/** Reads sizes from pieces of text; what is no size is left out, as by kubelets. */
export class TerminalSizeReader {
  #rest = "";

  read(chunk: Uint8Array): readonly TerminalSize[] {
    const parts = (this.#rest + Buffer.from(chunk).toString("utf8")).split("}");
    this.#rest = (parts.pop() ?? "").slice(0, textLengthMax);
    return parts.flatMap((part) => parseSize(`${part}}`) ?? []);
  }
}

function parseSize(text: string): TerminalSize | undefined {
  try {
    const { Width: columns, Height: rows } = JSON.parse(text) as {
      readonly Width?: unknown;
      readonly Height?: unknown;
    };
    return isSize(columns) && isSize(rows) ? { columns, rows } : undefined;
  } catch {
    return undefined;
  }
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= sizeMax;
}
