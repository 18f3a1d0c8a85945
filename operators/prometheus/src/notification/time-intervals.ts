/** Times that routes name, in the words of Alertmanager; pure. Throws `ConfigurationRefused` at the field. */
import { ConfigurationRefused, field, filled, type Section } from "../generate/generation.ts";
import type { Interval, Period } from "../kind/alertmanager-config.ts";

const days = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
const months = [
  ...["january", "february", "march", "april", "may", "june"],
  ...["july", "august", "september", "october", "november", "december"],
];

export function intervalSection(name: string, { timeIntervals }: Interval, path: string): Section {
  const periods = (timeIntervals ?? []).map((period, index) =>
    periodSection(period, `${path}.timeIntervals[${index}]`),
  );
  return { name, time_intervals: periods };
}

function periodSection({ times, weekdays, daysOfMonth, months: ofYear, years }: Period, path: string): Section {
  const each = <T>(name: string, list: readonly T[] | undefined, convert: (item: T) => string): Section =>
    field(name, filled(list)?.map(convert));
  return {
    ...field(
      "times",
      filled(times)?.map((range) => timeRange(range, path)),
    ),
    ...each("weekdays", weekdays, (text) => rangeText(text, dayNumber, (day) => days[day] ?? "", `${path}.weekdays`)),
    ...each("days_of_month", daysOfMonth, (range) => dayRange(range, path)),
    ...each("months", ofYear, (text) => rangeText(text, monthNumber, String, `${path}.months`)),
    ...each("years", years, (text) => rangeText(text, yearNumber, String, `${path}.years`)),
  };
}

function timeRange({ startTime = "", endTime = "" }: NonNullable<Period["times"]>[number], path: string): Section {
  const pattern = /^(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/;
  for (const text of [startTime, endTime])
    if (!pattern.test(text))
      throw new ConfigurationRefused(`${path}.times`, `expected a time such as 08:00, got "${text}"`);
  // Of equal length, so the order of the texts is that of the times.
  if (startTime >= endTime)
    throw new ConfigurationRefused(`${path}.times`, `expected an end after "${startTime}", got "${endTime}"`);
  return { start_time: startTime, end_time: endTime };
}

function dayNumber(text: string): number | undefined {
  const named = days.indexOf(text.toLowerCase());
  return named >= 0 ? named : numberBetween(text, 0, 6);
}

function monthNumber(text: string): number | undefined {
  const named = months.indexOf(text.toLowerCase());
  return named >= 0 ? named + 1 : numberBetween(text, 1, 12);
}

function yearNumber(text: string): number | undefined {
  return numberBetween(text, 0, 9_999);
}

function numberBetween(text: string, first: number, last: number): number | undefined {
  const number = Number(text);
  return /^\d+$/.test(text) && number >= first && number <= last ? number : undefined;
}

function rangeText(
  text: string,
  parse: (part: string) => number | undefined,
  write: (number: number) => string,
  path: string,
): string {
  const [first = "", last = first, ...rest] = text.split(":");
  const start = parse(first);
  const end = parse(last);
  if (start === undefined || end === undefined || rest.length > 0 || start > end)
    throw new ConfigurationRefused(path, `expected one or a range such as START:END, got "${text}"`);
  return start === end ? write(start) : `${write(start)}:${write(end)}`;
}

/** Negative days count from the end of the month; the shortest one has 28. */
function dayRange({ start = 0, end = 0 }: NonNullable<Period["daysOfMonth"]>[number], path: string): string {
  const isDay = (day: number): boolean => day !== 0 && Math.abs(day) <= 31;
  const fromStart = (day: number): number => (day < 0 ? 28 + day : day);
  if (!isDay(start) || !isDay(end) || (start < 0 && end > 0) || fromStart(start) > fromStart(end))
    throw new ConfigurationRefused(
      `${path}.daysOfMonth`,
      `expected days from 1 to 31 or -31 to -1, got ${start}:${end}`,
    );
  return start === end ? String(start) : `${start}:${end}`;
}
