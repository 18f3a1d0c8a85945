/** Whether a window is open at a moment. */
import type { HatefulSet } from "../kind/hateful-set.ts";

type ChaosWindow = NonNullable<HatefulSet["spec"]["window"]>;

const dayNames: readonly string[] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const minutesOfDay = 24 * 60;

export function isWindowOpen(window: ChaosWindow | undefined, nowMs: number): boolean {
  if (window === undefined) return true;
  const { day, minute } = localTime(window.timeZone ?? "Etc/UTC", nowMs);
  const from = minuteOf(window.from ?? "00:00");
  const to = minuteOf(window.to ?? "23:59");
  const isOn = (name: string): boolean => window.days === undefined || window.days.some((each) => each === name);
  if (from <= to) return isOn(day) && minute >= from && minute < to;
  return minute >= from ? isOn(day) : minute < to && isOn(dayBefore(day));
}

function localTime(timeZone: string, nowMs: number): { readonly day: string; readonly minute: number } {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    weekday: "short",
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
  });
  const parts = new Map(format.formatToParts(nowMs).map(({ type, value }) => [type, value]));
  const minute = Number(parts.get("hour")) * 60 + Number(parts.get("minute"));
  return { day: parts.get("weekday") ?? "", minute: minute % minutesOfDay };
}

function minuteOf(time: string): number {
  const [hour, minute] = time.split(":").map(Number);
  return (hour ?? 0) * 60 + (minute ?? 0);
}

function dayBefore(day: string): string {
  return dayNames[(dayNames.indexOf(day) + dayNames.length - 1) % dayNames.length] ?? "";
}
