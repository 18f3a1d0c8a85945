/** The recorded answers of kube-apiserver, a file for each file of inputs. */
import { readFileSync, writeFileSync } from "node:fs";
import type { Recording } from "./replay.ts";

const file = (subject: string): URL => new URL(`recorded/${subject}.json`, import.meta.url);

export function readRecording(subject: string): Recording {
  return JSON.parse(readFileSync(file(subject), "utf8")) as Recording;
}

/** An answer a line, so that a change of one shows as one line. */
export function writeRecording(subject: string, recording: Recording): void {
  const inputs = Object.entries(recording).map(
    ([name, answers]) => `${JSON.stringify(name)}: [\n${answers.map((each) => JSON.stringify(each)).join(",\n")}\n]`,
  );
  writeFileSync(file(subject), `{\n${inputs.join(",\n")}\n}\n`);
}
