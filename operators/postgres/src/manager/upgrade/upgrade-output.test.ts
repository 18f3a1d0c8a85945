import { expect, test } from "vitest";
import { upgradeProblem } from "./upgrade-output.ts";

const checked = `Performing Consistency Checks on Old Live Server
------------------------------------------------
Checking cluster versions                                     ok
Checking database connection settings                         ok
`;

test("upgradeProblem() says what a check found, and the columns of its list", () => {
  const output = `${checked}Checking data type usage      failed check: Checking for reg* data types in user tables

Data type checks failed: 
Your installation contains one of the reg* data types in user tables.
You can drop the problem columns and restart the upgrade.

A list of the problem columns is in the file:
    /data/pgdata.check/pg_upgrade_output.d/20261128T052731.521/tables_using_reg.txt

Failure, exiting
`;
  const list = "In database: app\n  public.bad.n\n";
  const text = upgradeProblem(output, (path) => (path.endsWith("tables_using_reg.txt") ? list : undefined));
  expect(text).toMatch(
    /^Checking data type usage failed check: Checking for reg\* data types in user tables.*drop the problem columns/,
  );
  expect(text).toMatch(/In database: app; public\.bad\.n$/);
  expect(text).not.toContain("cluster versions");
  expect(text).not.toContain("/data/");
});

test("upgradeProblem() has the end of the log of a step that failed", () => {
  const output = `${checked}Restoring database schemas in the new cluster
*failure*

Consult the last few lines of "/data/pgdata.new/pg_upgrade_output.d/x/log/pg_upgrade_dump_5.log" for
the probable cause of the failure.
Failure, exiting
`;
  const log = "1\n2\n3\n4\n5\npg_restore: error: could not execute query\n";
  expect(upgradeProblem(output, () => log)).toMatch(/could not execute query$/);
});
