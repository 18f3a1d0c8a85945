import type { Logger } from "@setpoint/host";

/**
 * Keeps a server at work when one of its parts throws where nothing catches it: in a timer, in a socket's
 * event, in a promise that nobody awaits. The request or the part that threw is lost; all others go on, and a
 * line with the stack says what happened.
 */
export function guardProcess(log: Logger): Disposable {
  const note = (error: unknown, origin: string): void => {
    log.error("Uncaught error; the process continues", { error, origin });
  };
  // Rejections that nobody handles come here too, as Node's default has it.
  process.on("uncaughtException", note);
  return { [Symbol.dispose]: () => void process.off("uncaughtException", note) };
}
