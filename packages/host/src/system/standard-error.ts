const { writeSync } = process.getBuiltinModule("node:fs");
const standardError = 2;

let isListening = false;

/**
 * Writes to standard error. Guarantees: where it leads to (a closed pipe, a file on a full disk) never ends
 * the process. Throws when the text could not be written and that is known at once.
 */
export function writeStandardError(text: string): void {
  const { stderr } = process;
  if (!isListening) {
    isListening = true;
    // Without a listener Node ends the process for a line that could not be written.
    stderr.on("error", () => {});
  }
  // Node's stream of a file is over after one error; the file is not, when its disk has room again.
  if (stderr.destroyed) writeSync(standardError, text);
  else stderr.write(text);
}
