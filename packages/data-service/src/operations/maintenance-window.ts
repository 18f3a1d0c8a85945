/** Maintenance windows: when steps that interrupt clients may begin; pure. */
import { parseDuration } from "setpoint";
import { cronLine, duration, timeZone } from "setpoint/kinds";
import { z } from "zod";
import { nextCronRun } from "setpoint/sources";

const maintenanceWindow = z.object({
  schedule: cronLine().describe("A cron line: when the window opens."),
  timeZone: timeZone().optional().describe("An IANA name such as Europe/Berlin; default: UTC."),
  duration: duration().max(20).describe("How long it stays open, such as 2h."),
});

/** A time that comes again and again. */
export type MaintenanceWindow = Readonly<z.infer<typeof maintenanceWindow>>;

/** The field of a spec with the windows of an instance. */
export const maintenanceWindows = z
  .array(maintenanceWindow)
  .max(10)
  .describe(
    "When steps that interrupt clients may begin: upgrades and restarts. Repairs never wait. Without windows, always.",
  );

export interface WindowState {
  readonly open: boolean;
  /** When it closes, if it is open, or else when the next one opens; undefined without windows. */
  readonly untilMs?: number;
}

/** Without windows it is always open. */
export function windowState(windows: readonly MaintenanceWindow[], nowMs: number): WindowState {
  if (windows.length === 0) return { open: true };
  const states = windows.map((window) => stateOf(window, nowMs));
  const open = states.filter((state) => state.open).map(({ untilMs }) => untilMs);
  if (open.length > 0) return { open: true, untilMs: Math.max(...open) };
  return { open: false, untilMs: Math.min(...states.map(({ untilMs }) => untilMs)) };
}

/** Whether a step that interrupts clients may begin now. */
export function isOpen(windows: readonly MaintenanceWindow[], nowMs: number): boolean {
  return windowState(windows, nowMs).open;
}

/** Why a window cannot be used; undefined when it can. */
export function windowRefusal(windows: readonly MaintenanceWindow[]): string | undefined {
  for (const [index, { schedule, timeZone, duration }] of windows.entries()) {
    try {
      nextOpeningMs({ schedule, timeZone }, anyMomentMs);
      parseDuration(duration);
    } catch (error) {
      return `maintenance window ${index}: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return undefined;
}

/** Any moment will do to find out whether a line can be read. */
const anyMomentMs = Date.UTC(2026, 0, 1);

/** A window is open when it has opened within its duration. */
function stateOf(window: MaintenanceWindow, nowMs: number): Required<WindowState> {
  const durationMs = parseDuration(window.duration);
  const openedMs = lastOpeningMs(window, nowMs - durationMs, nowMs);
  if (openedMs !== undefined) return { open: true, untilMs: openedMs + durationMs };
  return { open: false, untilMs: nextOpeningMs(window, nowMs) };
}

/** Openings within one duration are few; a window that opens every minute is always open. */
const openingsMax = 1_000;

function lastOpeningMs(window: MaintenanceWindow, fromMs: number, nowMs: number): number | undefined {
  let last: number | undefined;
  let at = fromMs;
  for (let count = 0; count < openingsMax; count++) {
    at = nextOpeningMs(window, at);
    if (at > nowMs) return last;
    last = at;
  }
  return last;
}

function nextOpeningMs({ schedule, timeZone }: Omit<MaintenanceWindow, "duration">, afterMs: number): number {
  return nextCronRun(schedule, afterMs, timeZone === undefined ? {} : { timeZone });
}

/** Why no step that interrupts clients may begin now; undefined while one may. */
export function closedWindow(windows: readonly MaintenanceWindow[] = [], nowMs: number): string | undefined {
  const refusal = windowRefusal(windows);
  if (refusal !== undefined) return refusal;
  const { open, untilMs = nowMs } = windowState(windows, nowMs);
  return open ? undefined : `the next maintenance window opens at ${new Date(untilMs).toISOString()}`;
}
