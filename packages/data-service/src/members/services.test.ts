import type { Service } from "setpoint/kinds";
import { expect, test } from "vitest";
import { budgetRestoration, isBudgetAsWanted, memberBudget } from "./disruption-budget.ts";
import { judgeServices, memberService, type ServiceRole, serviceRestoration } from "./services.ts";

const set = { name: "orders", namespace: "default", uid: "u1", label: "db.example.com/instance" };
const role: ServiceRole = {
  nameOf: (name) => `${name}-rw`,
  ports: [{ name: "sql", port: 5432, protocol: "TCP", targetPort: 5432 }],
  rest: {},
};
const wanted = memberService(set, role);
const present = { ...wanted, metadata: { ...wanted.metadata, ownerReferences: [{ uid: "u1" }] } } as unknown as Service;
const judge = (service: Service): unknown => judgeServices(set, [role], new Map([["orders-rw", service]]));
const changedTo = (change: object): Service => ({ ...present, spec: { ...present.spec, ...change } }) as Service;

test("a Service that is as wanted is left alone", () => {
  expect(judge(present)).toEqual({ servicesToApply: [], hasLoopback: false });
  expect(judge(changedTo({ clusterIP: "10.0.0.1" }))).toMatchObject({ hasLoopback: true });
});

test.each([
  ["a port has another number", { ports: [{ name: "sql", port: 5433, targetPort: 5432 }] }],
  ["a label more is selected, and it selects nobody", { selector: { ...present.spec?.selector, extra: "x" } }],
  ["addresses that are not ready are published", { publishNotReadyAddresses: true }],
])("a Service is applied again when %s, and what another client added goes", (_, change) => {
  const changed = changedTo(change);
  expect(judge(changed)).toMatchObject({ servicesToApply: ["orders-rw"] });
  const { selector } = (serviceRestoration(changed, wanted) as { readonly spec: { readonly selector: object } }).spec;
  expect(selector).toEqual({ [set.label]: "orders", ...("selector" in change ? { extra: null } : {}) });
});

test("a Service may select a role too, and is applied again when it selects another one", () => {
  const primary: ServiceRole = { ...role, selects: { role: "primary" } };
  const service = memberService(set, primary);
  expect(service.spec?.selector).toEqual({ [set.label]: "orders", role: "primary" });
  const owned = { ...service, metadata: { ...service.metadata, ownerReferences: [{ uid: "u1" }] } };
  const judged = (selector: object): readonly string[] => {
    const services = new Map([["orders-rw", { ...owned, spec: { ...owned.spec, selector } } as unknown as Service]]);
    return judgeServices(set, [primary], services).servicesToApply;
  };
  expect(judged({ [set.label]: "orders", role: "primary" })).toEqual([]);
  expect(judged({ [set.label]: "orders", role: "replica" })).toEqual(["orders-rw"]);
  expect(judged({ [set.label]: "orders" })).toEqual(["orders-rw"]);
});

test("a Service of another owner is named, and nothing is applied", () => {
  const foreign = { ...present, metadata: { ...present.metadata, ownerReferences: [] } } as unknown as Service;
  expect(judge(foreign)).toMatchObject({ servicesToApply: [], serviceTaken: "orders-rw" });
});

test("a budget that another client changed differs, and its restoration takes the change back", () => {
  const budget = memberBudget(set, 2);
  expect(isBudgetAsWanted(budget, set, 2)).toBe(true);
  const changed = { ...budget, spec: { ...budget.spec, maxUnavailable: 1 } } as typeof budget;
  expect(isBudgetAsWanted(changed, set, 2)).toBe(false);
  expect(isBudgetAsWanted(budget, set, 4)).toBe(false);
  expect(budgetRestoration(changed, budget)).toMatchObject({ spec: { minAvailable: 2, maxUnavailable: null } });
});
