import { expect, test } from "vitest";
import { builtinResources } from "../../registry/builtin/builtin-resources.ts";
import { listServedGroups, type ServedGroup } from "./group-list.ts";

const builtin = builtinResources();
const [deployments] = builtin.filter((each) => each.resource === "deployments");
if (deployments === undefined) throw new Error("there are no Deployments");
const widgets = { ...deployments, group: "example.com", resource: "widgets" };

const groupOf = (groups: readonly ServedGroup[], name: string): ServedGroup | undefined =>
  groups.find(({ group }) => group === name);

test("the groups of CRDs come after those of the server's own resources", () => {
  const alone = listServedGroups(builtin);
  const served = listServedGroups([...builtin, { ...widgets, group: "a.example.com" }, widgets]);
  expect(served.map(({ group }) => group)).toEqual([
    ...alone.map(({ group }) => group),
    "a.example.com",
    "example.com",
  ]);
  expect(groupOf(served, "apps")).toEqual(groupOf(alone, "apps"));
});

test("a CRD may add a kind to a group that the server has itself", () => {
  const served = listServedGroups([...builtin, { ...widgets, group: "apps" }]);
  const resources = groupOf(served, "apps")?.versions.flatMap((version) =>
    version.resources.map(({ resource }) => resource),
  );
  expect(resources).toEqual(expect.arrayContaining(["deployments", "widgets"]));
  expect(groupOf(listServedGroups(builtin), "apps")?.versions[0]?.resources).not.toContainEqual(
    expect.objectContaining({ resource: "widgets" }),
  );
});
