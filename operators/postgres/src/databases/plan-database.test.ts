import { expect, test } from "vitest";
import type { Stored } from "setpoint";
import { judgeCluster } from "../inner/served-cluster.ts";
import type { DatabaseFacts } from "../instance/database-protocol.ts";
import { cluster } from "../roles/role-situation.fixture.ts";
import type { SeenDatabase } from "./database-seen.ts";
import { databaseRules, planDatabase } from "./plan-database.ts";
import { PostgresDatabase } from "./postgres-database.ts";
import { databaseRefusals, wantedDatabase } from "./wanted-database.ts";

type Spec = Parameters<typeof PostgresDatabase>[0]["spec"];

function database(spec: Partial<Spec> = {}): Stored<PostgresDatabase> {
  const made = PostgresDatabase({
    name: "stock",
    namespace: "default",
    spec: { cluster: "orders", owner: "shop", ...spec },
  });
  return { ...made, metadata: { ...made.metadata, uid: "u1", generation: 2 } } as never;
}

const facts: DatabaseFacts = {
  holder: { uid: "u1", revision: 2 },
  owner: "shop",
  connectionLimit: -1,
  encoding: "UTF8",
  locale: "C",
  isTemplate: false,
  isInvalid: false,
  schemas: { public: "pg_database_owner", sales: "shop" },
  extensions: { pg_trgm: { version: "1.5", schema: "public", available: ["1.5", "1.6"], hasPath: true } },
};

function seen(spec: Partial<Spec>, has: Partial<DatabaseFacts> | null, answer: object = {}): SeenDatabase {
  const object = database(spec);
  return {
    database: object,
    refusals: [],
    cluster: judgeCluster("orders", cluster()),
    wanted: wantedDatabase(object),
    answer: { database: has === null ? null : { ...facts, ...has }, missingRoles: [], hasTemplate: true, ...answer },
  };
}

function textOf(situation: SeenDatabase): string {
  const step = planDatabase(situation, 0);
  if (step.kind === "act") return `${step.rule}: ${step.action}: ${step.reason}`;
  return `${step.rule}: ${step.kind === "wait" ? step.reason : (step.stalled?.reason ?? "")}`;
}

const trgm = (version: string): Partial<Spec> => ({ extensions: [{ name: "pg_trgm", version }] });
const rows: readonly (readonly [SeenDatabase, string])[] = [
  [{ ...seen({}, {}), refusals: [{ field: "spec.database", why: "no" }] }, "refused: FieldsRefused"],
  [{ ...seen({}, {}), cluster: judgeCluster("orders", undefined) }, 'cluster: PostgresCluster "orders" does not exist'],
  [
    { ...seen({}, {}), answer: undefined, silence: "timeout" },
    'silent primary: the primary of PostgresCluster "orders" gives no answer: timeout',
  ],
  [
    seen({}, { holder: null }),
    'foreign database: database "stock" exists already; set spec.adopt: true to take it over, or use another spec.database',
  ],
  [
    seen({ adopt: true }, { isTemplate: true }),
    'foreign database: database "stock" is a template; use another spec.database',
  ],
  [
    seen({}, { isInvalid: true }),
    'foreign database: database "stock" is left over from a drop that was interrupted; drop it by hand',
  ],
  [seen({}, null, { missingRoles: ["shop"] }), "missing roles: owners that do not exist yet: shop"],
  [
    seen({ template: "base" }, null, { hasTemplate: false }),
    'missing roles: spec.template: there is no database "base" yet',
  ],
  [
    seen({ adopt: true }, { encoding: "LATIN1", holder: null }),
    "what cannot change: spec.encoding: the database has LATIN1, expected UTF8; PostgreSQL cannot change it: recreate the resource with LATIN1",
  ],
  [
    seen({ locale: "C.UTF-8" }, {}),
    "what cannot change: spec.locale: the database has C, expected C.UTF-8; PostgreSQL cannot change it: recreate the resource with C",
  ],
  [
    seen(trgm("9"), { extensions: { pg_trgm: { version: null, schema: null, available: ["1.5"], hasPath: true } } }),
    "extensions that the image lacks: spec.extensions[pg_trgm]: expected 9, and the image has 1.5",
  ],
  [
    seen(trgm("1.4"), {
      extensions: { pg_trgm: { version: "1.6", schema: "public", available: ["1.6"], hasPath: false } },
    }),
    "extensions that the image lacks: spec.extensions[pg_trgm]: there is no way from 1.6 to 1.4; the image has 1.6",
  ],
  [seen({}, null), 'database: changeDatabase: database "stock" does not exist'],
  [
    seen({ adopt: true }, { holder: null }),
    'database: changeDatabase: database "stock" does not belong to this object yet',
  ],
  [seen({}, { holder: { uid: "u1", revision: -1 } }), "database: changeDatabase: the spec has changed"],
  [seen({}, { owner: "postgres" }), 'database: changeDatabase: owner is "postgres", expected "shop"'],
  [seen(trgm("1.6"), {}), 'database: changeDatabase: the version of extension "pg_trgm" is "1.5", expected "1.6"'],
  [
    seen({ schemas: [{ name: "sales", ensure: "absent" }, { name: "stock" }] }, {}),
    'database: changeDatabase: schema "sales" is there, expected none; schema "stock" is missing',
  ],
  [seen({ drift: "report" }, { owner: "postgres" }), "rest: "],
  [seen({}, {}), "rest: "],
];

test.each(rows)("%#", (situation, text) => {
  expect(textOf(situation)).toBe(text);
});

test("each rule has its row", () => {
  const named = new Set(rows.map(([, text]) => text.slice(0, text.indexOf(":"))));
  expect([...named].toSorted()).toEqual(databaseRules.map(({ name }) => name).toSorted());
});

test.each([
  [database({ database: "postgres" }), "spec.database", /belongs to PostgreSQL/],
  [database({ database: "app" }), "spec.database", /is the cluster's own database/],
  [database({ schemas: [{ name: "pg_toast" }] }), "spec.schemas", /belongs to PostgreSQL/],
])("a database like %# is refused with its field", (refused, field, why) => {
  expect(databaseRefusals(refused, cluster(), undefined)).toEqual([{ field, why: expect.stringMatching(why) }]);
});
