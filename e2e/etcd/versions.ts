/** Versions of etcd that Debian has, and which of them a test uses. */
const all = ["3.4.23", "3.5.16"] as const;

export type TestedVersion = (typeof all)[number];

/**
 * The version that a test uses in `npm test`, while other tests use the other one; all when the variable
 * SETPOINT_ETCD_VERSIONS is `all`, as `npm run e2e:versions` sets it.
 */
export function versionsUnderTest(usual: TestedVersion): readonly TestedVersion[] {
  return process.env["SETPOINT_ETCD_VERSIONS"] === "all" ? all : [usual];
}
