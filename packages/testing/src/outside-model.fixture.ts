import assert from "node:assert/strict";
import { test } from "node:test";
import { type OperatorProcess, type OutsideModel, Reachability, simulate, type WorldModel } from "setpoint/testing";
import { controller, defineKind, defineOperator, type Operator } from "setpoint";
import { z } from "zod";

const Mailbox = defineKind({
  group: "example.com",
  version: "v1",
  kind: "Mailbox",
  spec: z.object({ quotaMb: z.int() }),
});

type Host = Parameters<NonNullable<WorldModel["attach"]>>[0];

/** A mail server outside of the cluster: an account has a quota and a password. */
class MailServer implements OutsideModel {
  readonly network: Reachability = new Reachability("mail.example.com:443");
  readonly #accounts = new Map<string, { readonly quotaMb: number; readonly password: string }>();
  #host: Host | undefined;

  attach(host: Host): void {
    this.#host = host;
  }

  /** What the laws compare with the run without faults. Passwords are random, so they are left out. */
  data(): Readonly<Record<string, unknown>> {
    return Object.fromEntries([...this.#accounts].map(([name, { quotaMb }]) => [name, quotaMb]));
  }

  /** Creates the account or changes its quota; the same request twice does the same. */
  put(name: string, quotaMb: number, password: string): Promise<void> {
    assert.ok(this.#host);
    return this.network.answer(this.#host.clock, () => {
      this.#accounts.set(name, { quotaMb, password: this.#accounts.get(name)?.password ?? password });
    });
  }
}

function mailOperator(server: MailServer, process: OperatorProcess): Operator {
  return defineOperator({
    name: "mail",
    controllers: [
      controller(Mailbox, {
        async reconcile({ metadata, spec }, { host }) {
          const { name } = metadata;
          await process.call("put account", "write", () => server.put(name, spec.quotaMb, host.random.uuid()));
        },
      }),
    ],
  });
}

test("an account follows its Mailbox, also when an answer is lost", async () => {
  const server = new MailServer();
  await using world = await simulate({
    seed: 1,
    models: [server],
    operators: [(process) => mailOperator(server, process)],
  });
  server.network.loseAnswers(1);
  await world.apply(Mailbox({ name: "ann", spec: { quotaMb: 100 } }));
  await world.settled();
  assert.deepEqual(server.data(), { ann: 100 });
});
