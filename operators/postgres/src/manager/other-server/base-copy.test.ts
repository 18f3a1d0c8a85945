import { expect, test } from "vitest";
import { refusalOf, versionText } from "./base-copy.ts";
import { complaintOf } from "./connection.ts";

const from = { host: "source", port: 5432, user: "boss", database: "postgres", sslMode: "require" };

test.each([
  [
    'FATAL:  password authentication failed for user "boss"',
    /^spec\.bootstrap\.baseBackup\.from\.user: source:5432 refuses the login of "boss": .*; expected a user whose password/,
  ],
  ["fe_sendauth: no password supplied", /refuses the login/],
  [
    'FATAL:  no pg_hba.conf entry for replication connection from host "10.0.0.1", user "boss", no encryption',
    /^spec\.bootstrap\.baseBackup\.from\.user: .*expected a line of its pg_hba\.conf/,
  ],
  [
    "FATAL:  must be superuser or replication role to start walsender",
    /^spec\.bootstrap\.baseBackup\.from\.user: .*expected a user with the attribute REPLICATION/,
  ],
  [
    'could not translate host name "source" to address',
    /^spec\.bootstrap\.baseBackup\.from: cannot copy the data of source:5432: could not translate/,
  ],
])("what another server says, %#, names the field and what is expected", (complaint, text) => {
  expect(refusalOf(from, complaint)).toMatch(text);
});

test("another major version names both, and the other way", () => {
  expect(versionText("source:5432", 15, 17)).toBe(
    "spec.version: 17, and source:5432 runs PostgreSQL 15, whose files only PostgreSQL 15 reads; expected the version of that server, or spec.bootstrap.import instead of baseBackup",
  );
});

test("of what libpq says, the sentence of the server counts", () => {
  const output = `psql: error: connection to server at "source" (::1), port 5432 failed: FATAL:  password authentication failed for user "boss"
password retrieved from file "/run/setpoint/other/pgpass"
`;
  expect(complaintOf(output)).toBe('FATAL:  password authentication failed for user "boss"');
});
