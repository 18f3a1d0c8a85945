/** A flight recording as a file: one JSON object a line, the first is the header. */
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { decodeJson, encodeJson, isJsonObject, SetpointError } from "@setpoint/apimachinery";
import { flightFormat, type FlightEntry, type FlightHeader, type FlightSink } from "@setpoint/client";

/** Writes each entry as it comes, so that also a program that is killed leaves what it saw. */
export class RecordingFile implements FlightSink, Disposable {
  readonly #file: number;
  readonly #bytesMax: number;
  #bytes = 0;
  #isOpen = true;

  /** Errors: `ERR_RECORDING_NOT_WRITTEN` when the file cannot be made. */
  constructor(path: string, header: FlightHeader, bytesMax: number) {
    this.#bytesMax = bytesMax;
    try {
      // Only the user who recorded may read the file.
      this.#file = openSync(path, "w", 0o600);
    } catch (cause) {
      const message = `Cannot record into "${path}": it cannot be opened for writing`;
      throw new SetpointError("ERR_RECORDING_NOT_WRITTEN", message, { cause });
    }
    this.#write(JSON.stringify(header));
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(entry: FlightEntry): boolean {
    const line = encodeJson(entry);
    // The end always has its place.
    if (entry.kind !== "stop" && this.#bytes + line.length > this.#bytesMax) return false;
    this.#write(line);
    return true;
  }

  [Symbol.dispose](): void {
    if (this.#isOpen) closeSync(this.#file);
    this.#isOpen = false;
  }

  #write(line: string): void {
    if (!this.#isOpen) return;
    this.#bytes += line.length + 1;
    writeSync(this.#file, `${line}\n`);
  }
}

export interface Recording {
  readonly header: FlightHeader;
  readonly entries: readonly FlightEntry[];
}

/**
 * Errors: `ERR_NOT_A_RECORDING`. A last line that was cut is left out: the program was killed while it wrote
 * it.
 */
export function readRecording(path: string): Recording {
  const [first = "", ...lines] = readText(path).split("\n");
  const header = parseLine(first);
  if (!isJsonObject(header) || header["format"] !== flightFormat) {
    const isOther = isJsonObject(header) && "format" in header;
    const problem = isOther
      ? `it is "${String(header["format"])}", expected "${flightFormat}"`
      : `it has no header with the format "${flightFormat}"; "setpoint record" writes such a file`;
    throw notARecording(path, problem);
  }
  const isWhole = lines.at(-1) === "";
  const complete = isWhole ? lines.slice(0, -1) : lines;
  const entries = complete.map((line, index) => {
    const entry = parseLine(line);
    if (isJsonObject(entry)) return entry;
    if (!isWhole && index === complete.length - 1) return undefined;
    throw notARecording(path, `line ${index + 2} is not JSON`);
  });
  // The parsing border: the format names the version of these shapes.
  const shapes = entries.filter((entry) => entry !== undefined) as unknown as readonly FlightEntry[];
  return { header: header as unknown as FlightHeader, entries: shapes };
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw notARecording(path, "it cannot be read", cause);
  }
}

function parseLine(line: string): unknown {
  try {
    return decodeJson(line) as unknown;
  } catch {
    return undefined;
  }
}

function notARecording(path: string, why: string, cause?: unknown): SetpointError {
  return new SetpointError("ERR_NOT_A_RECORDING", `Cannot use the recording "${path}": ${why}`, { cause });
}
