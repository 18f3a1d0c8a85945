/** What the schema of a BackupPlan accepts as its schedule is what the operator can run. */
import fc from "fast-check";
import { nextCronRun } from "setpoint/sources";
import { expect, test } from "vitest";
import { BackupPlan } from "../kinds/backup-plan.ts";

const instance = { apiGroup: "examples.setpoint.dev", kind: "Store", name: "orders" };

/** Why the server refuses the line; undefined when it accepts it. */
function refusal(schedule: string, timeZone = "UTC"): string | undefined {
  try {
    BackupPlan({ name: "often", spec: { instance, store: "vault", schedule, timeZone } });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function problem(schedule: string, timeZone = "UTC"): string | undefined {
  try {
    nextCronRun(schedule, Date.UTC(2026, 0, 1), { timeZone });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const accepted = [
  ...["0 3 * * *", "*/5 * * * *", "30 0 3 * * *", "@daily", " @DAILY ", "@midnight", "0  3 * * *", " 0 3 * * * "],
  ...[
    "0 3 ? * ?",
    "?/5 * * * *",
    "0-30/10 8-18 * * MON-FRI",
    "0 3 * * mon,wed,FRI",
    "0 3 * * SUN-TUE",
    "0 3 * * FRI-SUN",
  ],
  ...[
    "0 3 L * *",
    "0 3 LW * *",
    "0 3 15W * *",
    "0 3 1,15w,L * *",
    "0 3 * * 5L",
    "0 3 * * MON#2",
    "0 3 * * 1-5#1",
    "0 3 * * FRIL",
  ],
  ...[
    "0 3 1 JAN-MAR/2 *",
    "0 3 1 1,APR,7,oct *",
    "00 03 01 01 07",
    "0 3 13 * +FRI",
    "0 3 29 2 *",
    "0 3 31 1-3 *",
    "*/60 */24 */31 */12 */7",
  ],
  ...["0 3 30 2 MON", "1,*,2-3 * * * *", "22-23 22-23,0-6 * * *", "0 3 * * */2#3", "0 3 * * 1-5/2L", "0 3 * * 6-7"],
];

const refused = [
  ...[
    "every day",
    "",
    " ",
    "* * *",
    "* * * * * * *",
    "@reboot",
    "@dayly",
    "@daily *",
    "x@daily",
    "2030-01-01T00:00:00Z",
    "2030-01-01 00:00:00",
  ],
  ...[
    "60 * * * *",
    "61 * * * *",
    "0 24 * * *",
    "0 3 0 * *",
    "0 3 32 * *",
    "0 3 1 0 *",
    "0 3 1 13 *",
    "0 3 * * 8",
    "60 0 3 * * *",
  ],
  ...[
    "30-10 * * * *",
    "0 22-6 * * *",
    "0 3 20-10 * *",
    "0 3 1 OCT-MAR *",
    "0 3 1 12-MAR *",
    "0 3 * * FRI-MON",
    "0 3 * * 5-1#2",
    "0 3 * * +5-1",
  ],
  ...[
    "*/0 * * * *",
    "*/61 * * * *",
    "0 */25 * * *",
    "5/10 * * * *",
    "/5 * * * *",
    "0 3 */32 * *",
    "0 3 1 */13 *",
    "0 3 * * */8",
  ],
  ...[
    "1,,2 * * * *",
    "1, * * * *",
    ",1 * * * *",
    "-1 * * * *",
    "1- * * * *",
    "1-2-3 * * * *",
    "a * * * *",
    "1.5 * * * *",
    "+1 * * * *",
  ],
  ...[
    "0 3 L1 * *",
    "0 3 LW,1 * *",
    "0 3 1-5W * *",
    "0 3 W15 * *",
    "0 3 L-3 * *",
    "0 L * * *",
    "0 3 * L *",
    "0 3 * * L",
    "0 3 * * *L",
  ],
  ...[
    "0 3 * * MON#6",
    "0 3 * * MON#0",
    "0 3 * * *#2",
    "0 3 * * MON#",
    "0 3 * * #2",
    "0 3 1#2 * *",
    "0 3 * * +",
    "0 3 * * 1,+2",
    "0 3 * * MONDAY",
  ],
  ...[
    "0 3 * JANUARY *",
    "0 3 * * 5L#2",
    "0\t3 * * *",
    "0 3 * * *\n",
    "0 3 30 2 *",
    "0 3 30,31 FEB ?",
    "0 3 31 4,6,9,11 *",
    "0 3 31W APR *",
  ],
];

test.each(accepted)("%j is a schedule for the server and for the operator", (line) => {
  expect([refusal(line), problem(line)]).toEqual([undefined, undefined]);
});

test.each(refused)("%j is a schedule for neither", (line) => {
  expect([refusal(line), problem(line)]).toEqual([expect.any(String), expect.any(String)]);
});

/** Those that only a look at the dates shows. */
test.each(["0 3 31 2-2 *", "0 3 30 2 +MON", "0 3 15 * +MON#1"])("%j never fires, which the operator finds", (line) => {
  expect([refusal(line), problem(line)]).toEqual([undefined, expect.stringContaining("it never fires")]);
});

test("of random lines the server accepts those that the operator can run", () => {
  const item = fc.stringMatching(
    /^([*?]|[0-9]{1,2}|[lLwW]|mon|SUN|jan|DEC)?(-([0-9]{1,2}|fri|MAR))?(\/[0-9]{1,2})?(#[0-6]|[lw])?$/,
  );
  const part = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom("*", "?", "0", "1", "5", "12", "1-5", "*/2", "l", "lw") },
    { weight: 2, arbitrary: item },
    { weight: 1, arbitrary: fc.tuple(fc.constantFrom("", "+"), item, item).map(([sign, a, b]) => `${sign}${a},${b}`) },
  );
  // One field of interest beside others that are mostly right.
  const right = fc.constantFrom("*", "*", "*", "1", "1-5", "*/2");
  const line = fc
    .tuple(fc.array<string>(right, { minLength: 5, maxLength: 6 }), fc.nat(5), part)
    .map(([parts, at, wild]) => parts.with(at % parts.length, wild).join(" "));
  const mayNeverFire = (text: string | undefined): boolean => text?.includes("it never fires") === true;
  let count = 0;
  fc.assert(
    fc.property(line, (text) => {
      const found = problem(text);
      if (found === undefined) count++;
      if (!mayNeverFire(found)) expect([text, refusal(text) === undefined]).toEqual([text, found === undefined]);
    }),
    { seed: 7, numRuns: 4_000 },
  );
  expect(count).toBeGreaterThan(400);
});

test("a refusal names the field", () => {
  expect(refusal("61 * * * *")).toContain("minute: expected *, 0 to 59");
  expect(refusal("0 22-6 * * *")).toContain("a range goes forward");
  expect(refusal("every day")).toContain("expected a cron line of five fields");
  expect(refusal("every day")).not.toContain("minute:");
});

test.each(["Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires", "Etc/GMT+3"])("%s is a time zone", (zone) => {
  expect([refusal("@daily", zone), problem("@daily", zone)]).toEqual([undefined, undefined]);
});

test.each(["Mars/Base", "", "Berlin", "Local", "UTC+25:00"])("%j is no time zone", (zone) => {
  expect([refusal("@daily", zone), problem("@daily", zone)]).toEqual([expect.any(String), expect.any(String)]);
});
