/** For a parent that starts this process: it is to end when the parent has. */
export const endsWithParent = "SETPOINT_ENDS_WITH_PARENT";

const lookMs = 500;

/**
 * Ends this process as SIGTERM does when its parent is gone. npm runs a command by a shell that hands on no
 * signal: who stops `npx setpoint up` or a script of a project by npm's process alone would leave the cluster
 * behind. Others may leave a process behind on purpose.
 */
export function endWithParent(environment: NodeJS.ProcessEnv = process.env): void {
  const parent = process.ppid;
  const isFromNpm = environment["npm_command"] !== undefined;
  // What is already left behind was meant to be.
  if (parent === 1 || (!isFromNpm && environment[endsWithParent] === undefined)) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, "SIGTERM");
  }, lookMs);
  timer.unref();
}
