/** A controller that owns the Secrets of one label, beside Secrets of a user, under every single fault. */
import { Secret } from "@setpoint/api";
import { controller, defineKind, defineOperator, type Stored } from "setpoint";
import { expect, test } from "vitest";
import { z } from "zod";
import { coverageOf, patch, reconcilerLaws, remove, simulate, story } from "./index.ts";

const Login = defineKind({
  group: "examples.setpoint.dev",
  version: "v1",
  kind: "Login",
  spec: z.object({ users: z.array(z.string()) }),
  status: z.object({ secrets: z.int().optional() }),
});
type Login = Stored<ReturnType<typeof Login>>;

function secretOf({ metadata }: Login, user: string): Secret {
  return Secret({ name: `${metadata.name}-${user}`, labels: { app: "logins" }, stringData: { user: `user ${user}` } });
}

const logins = controller(Login, {
  owns: [{ kind: Secret, labelSelector: "app=logins" }],
  async reconcile(login, { children, status }) {
    await children.apply(login.spec.users.map((user) => secretOf(login, user)));
    await status({ secrets: children.list(Secret).length });
  },
});
const operator = defineOperator({ name: "logins", controllers: [logins] });
const foreign = Secret({ name: "foreign", stringData: { password: "of another user" } });
const login = Login({ name: "shop", spec: { users: ["anna", "bert"] } });

test("the cache of an owned part holds no Secret of others, and the operator needs no rights beside those derived", async () => {
  await using world = await simulate({ seed: 1, operators: [operator] });
  await world.apply(foreign);
  await world.apply(login);
  await world.settled();
  expect((await world.get(Login, "shop")).status?.secrets).toBe(2);
  expect(world.host.lines.filter(({ message }) => message === "Caching all Secrets")).toEqual([]);
});

test("a controller of an owned part keeps the laws", async () => {
  const { coverage } = await reconcilerLaws(operator, {
    worlds: [
      story("a user leaves", foreign, login, patch(Login, "shop", { spec: { users: ["bert"] } })),
      story("a login is deleted", login, remove(Login, "shop")),
    ],
    seconds: 60,
  });
  const { cells, visited } = coverageOf(coverage);
  expect([cells > 0, visited > 0]).toEqual([true, true]);
});
