/**
 * A cron line as a field of a kind. The server checks it by rules, each with its own message, so a wrong line
 * is refused when it is written. The rules accept what the schedules of the runtime accept, with one
 * exception: a line whose dates never come is refused only where day and month alone say so.
 */
import { z } from "zod";
import { field, rule } from "./field.ts";
import type { ValidationRule } from "./structural-schema.ts";

const lengthMax = 100;

const monthNames = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** All numbers may have zeros in front. */
const sixty = "0*[1-5]?[0-9]";
const hours = "0*(?:1?[0-9]|2[0-3])";
const days = "0*(?:[1-9]|[12][0-9]|3[01])";
const months = `(?:0*(?:[1-9]|1[0-2])|${monthNames.join("|")})`;
const weekdays = `(?:0*[0-7]|${dayNames.join("|")})`;

/** A list of values, ranges and steps. */
function listOf(...items: readonly string[]): string {
  const item = `(?:${items.join("|")})`;
  return `${item}(?:,${item})*`;
}

/** Any value, one value, and ranges, with steps; another rule compares the ends of ranges. */
function values(value: string, step: string): readonly string[] {
  return [`[*?](?:/${step})?`, `${value}(?:-${value}(?:/${step})?)?`];
}

const sixtyField = listOf(...values(sixty, "0*(?:[1-9]|[1-5][0-9]|60)"));
const hourField = listOf(...values(hours, "0*(?:[1-9]|1[0-9]|2[0-4])"));
const dayField = `(?:lw|${listOf("l", `${days}w`, ...values(days, days))})`;
const monthField = listOf(...values(months, "0*(?:[1-9]|1[0-2])"));
const weekdayStep = "0*[1-7]";
/** Of the month: the second one, or the last one. */
const nth = "(?:#(?:0*[1-5]|l)|l)?";
const weekdayField = `\\+?${listOf("[*?]", `(?:[*?]/${weekdayStep}|${weekdays}(?:-${weekdays}(?:/${weekdayStep})?)?)${nth}`)}`;

const any = "[^ @]+";
const fields = `(?:${any} +){4,5}${any}`;
const nicknames = "@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)";
/** Of anything else the first rule says what is wrong. */
const hasNoFields = `!self.matches(r'^ *${fields} *$')`;

/** Days that some months lack, in those months alone, on any day of the week. */
const february = "(?:0*2|feb)";
const shortMonth = "(?:0*(?:2|4|6|9|11)|feb|apr|jun|sep|nov)";
const lastDays = "0*3[01](?:-0*3[01])?w?";
const lastDay = "0*31(?:-0*31)?w?";
const everyWeekday = "\\+?[*?]";

/** All items of all fields, with numbers in place of names. Sunday ends a range as 7, and begins one as 0. */
const numbered = [
  "self.lowerAscii()",
  ...["-sun", ...dayNames].map((name, at) => `.replace('${name}', '${at === 0 ? "-7" : at - 1}')`),
  ...monthNames.map((name, at) => `.replace('${name}', '${at + 1}')`),
  ".replace('+', '').replace(' ', ',')",
].join("");
const from = "int(item.split('-')[0])";
const to = "int(item.split('-')[1].split('/')[0].split('#')[0].split('l')[0])";

/** Whether the field that has so many others behind it reads so; a line may begin with the second. */
function fieldRule(pattern: string, behind: number, message: string): ValidationRule {
  return lineRule(`^ *(?:${any} +){${4 - behind},${5 - behind}}${pattern}(?: +${any}){${behind}} *$`, message);
}

function lineRule(pattern: string, message: string): ValidationRule {
  return rule(`${hasNoFields} || self.matches(r'(?i)${pattern}')`, message);
}

/** Whether a line has no such dates. */
function datesRule(day: string, month: string, message: string): ValidationRule {
  return rule(`!self.matches(r'(?i) ${listOf(day)} +${listOf(month)} +${everyWeekday} *$')`, message);
}

const rules: readonly ValidationRule[] = [
  rule(
    `self.matches(r'(?i)^ *(?:${nicknames}|${fields}) *$')`,
    "expected a cron line of five fields (minute, hour, day of the month, month, day of the week), of six with the second first, or a nickname such as @daily",
  ),
  lineRule(
    `^ *(?:${sixtyField} +)?(?:${any} +){4}${any} *$`,
    "second: expected *, 0 to 59, 0-30, */15, or a list of these",
  ),
  fieldRule(sixtyField, 4, "minute: expected *, 0 to 59, 0-30, */15, or a list of these"),
  fieldRule(hourField, 3, "hour: expected *, 0 to 23, 8-18, */6, or a list of these"),
  fieldRule(
    dayField,
    2,
    "day of the month: expected *, 1 to 31, 1-15, */10, L for the last one, 15W, or a list of these",
  ),
  fieldRule(monthField, 1, "month: expected *, 1 to 12, JAN to DEC, 6-8, */3, or a list of these"),
  fieldRule(
    weekdayField,
    0,
    "day of the week: expected *, 0 to 7, SUN to SAT, MON-FRI, */2, 5#2 for the second Friday, 5L for the last one, or a list of these",
  ),
  rule(
    `${hasNoFields} || ${numbered}.split(',').all(item, !item.matches('^[0-9]+-[0-9]+') || ${from} <= ${to})`,
    "a range goes forward: write 22-23,0-6 in place of 22-6",
  ),
  datesRule(lastDays, february, "it never fires: February has no such day"),
  datesRule(lastDay, shortMonth, "it never fires: none of these months has 31 days"),
];

/**
 * A cron line: five fields (minute, hour, day of the month, month, day of the week), six with the second
 * first, or a nickname such as `@daily`. `nextCronRun` says when it fires.
 */
export function cronLine(): z.ZodString {
  return field(z.string().min(1).max(lengthMax), { rules });
}

/** The IANA name of a time zone, such as `Europe/Berlin`. */
export function timeZone(): z.ZodString {
  const anyMoment = "timestamp('2026-01-01T00:00:00Z')";
  // `Local` is Go's name for the zone of the server.
  return field(z.string().min(1).max(lengthMax), {
    rules: [
      rule(
        `self != 'Local' && ${anyMoment}.getHours(self) >= 0`,
        'expected the IANA name of a time zone, such as "Europe/Berlin"',
      ),
    ],
  });
}
