import { expect, test } from "vitest";
import type { ServerSettings } from "../instance/instance-protocol.ts";
import { accessText, configurationText, firstAccessRuleLine } from "./configuration-files.ts";

const settings: ServerSettings = {
  parameters: { work_mem: "8MB", "pg_stat_statements.track": "all" },
  accessRules: ["hostssl shop shop 10.0.0.0/8 scram-sha-256"],
  isArchived: false,
  synchronousStandbyNames: 'ANY 1 ("orders-1", "orders-2")',
  database: { name: "app", owner: "app" },
};

test("configurationText() has the user's settings before the operator's", () => {
  const text = configurationText({ ...settings, parameters: { wal_level: "minimal" } }, { name: "orders-1" });
  expect(text.indexOf("wal_level = 'minimal'")).toBeLessThan(text.indexOf("wal_level = 'logical'"));
  expect(text.endsWith("primary_conninfo = ''\n")).toBe(true);
  // The settings of a restore come last, and name what leads to its target.
  expect(configurationText(settings, { name: "orders-1", recovers: true })).toMatch(
    /\ninclude = '.*\/recovery\.conf'\n$/,
  );
});

test("configurationText() quotes values, so that none begins another setting", () => {
  const text = configurationText({ ...settings, parameters: { search_path: "it's \\here" } }, { name: "orders-1" });
  expect(text).toContain("search_path = 'it''s \\\\here'");
  expect(text).toContain(`synchronous_standby_names = 'ANY 1 ("orders-1", "orders-2")'`);
});

test("configurationText() of a replica names its primary, which must prove itself", () => {
  const text = configurationText(settings, { name: "orders-2", follows: "orders-1.orders.shop.svc" });
  expect(text).toMatch(
    /primary_conninfo = 'host=orders-1\.orders\.shop\.svc .*application_name=orders-2 sslmode=verify-full/,
  );
});

test("accessText() lets the superuser in from nowhere but the pod, and asks all others for a password over TLS", () => {
  const lines = accessText(settings).split("\n");
  const at = (line: string): number => lines.indexOf(line);
  expect(at("host all postgres all reject")).toBeGreaterThan(0);
  expect(at("host all postgres all reject")).toBeLessThan(at(settings.accessRules[0] ?? ""));
  expect(lines.filter((line) => line.startsWith("host ")).every((line) => line.endsWith("reject"))).toBe(true);
  expect(lines[firstAccessRuleLine - 1]).toBe(settings.accessRules[0]);
  expect(lines.at(-2)).toBe("hostssl all all all scram-sha-256");
});
