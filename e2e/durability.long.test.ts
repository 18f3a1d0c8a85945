/**
 * An API server that is killed again and again under writers: what it has acknowledged stays, and is never
 * contradicted.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ConfigMap } from "@setpoint/api";
import { createClient, type Client } from "@setpoint/client";
import { connect } from "@setpoint/client/node";
import type { Random } from "@setpoint/host";
import { seededRandom } from "@setpoint/host/simulated";
import { systemHost } from "@setpoint/host/system";
import { expect, test } from "vitest";
import { type Content, Ledger, revisionOf } from "./durability/ledger.ts";
import { type Resumption, resume } from "./durability/resume.ts";
import { ServerProcess } from "./durability/server-process.ts";
import { namespace, Writer } from "./durability/writer.ts";

const killsMin = 50;
const connections = 4;
const writersPerConnection = 3;
/** How long writers write before the server is killed, at most, or as long as the writes below take. */
const lifeMsMax = 150;
/** How many writes are acknowledged before the server is killed: at least up to so many. */
const writesMax = 20;
/** A start takes about this long; some kills fall into it. */
const startMsMax = 500;
const host = systemHost();

function connectTo(kubeconfig: string, parts: AsyncDisposableStack): Client {
  const transport = parts.use(connect({ clock: host.clock, kubeconfig }));
  // One attempt: the ledger wants to know of each request what became of it.
  return createClient(transport, { ...host, attemptsMax: 1 });
}

/** Everything that writers wrote, as it is now. */
async function readAll(client: Client): Promise<{ readonly present: Map<string, Content>; readonly revision: number }> {
  const { items, resourceVersion } = await client.listAll(ConfigMap, { namespace });
  const present = new Map<string, Content>();
  for (const item of items) {
    const { name } = item.metadata;
    if (name.startsWith("writer")) present.set(name, { revision: revisionOf(item), value: item.data?.["value"] ?? "" });
  }
  return { present, revision: Number(resourceVersion) };
}

class Story {
  readonly ledger = new Ledger();
  readonly resumptions: Record<Resumption, number> = { gone: 0, replayed: 0, broken: 0 };
  kills = 0;
  readonly #server: ServerProcess;
  readonly #random: Random;
  #clients: readonly Client[] = [];
  #writers: readonly Writer[] = [];

  constructor(server: ServerProcess, random: Random) {
    this.#server = server;
    this.#random = random;
  }

  async begin(directory: string, parts: AsyncDisposableStack): Promise<void> {
    const { kubeconfig } = await this.#server.start();
    const file = join(directory, "kubeconfig");
    writeFileSync(file, kubeconfig);
    this.#clients = Array.from({ length: connections }, () => connectTo(file, parts));
    this.#writers = this.#clients.flatMap((client, i) =>
      Array.from(
        { length: writersPerConnection },
        (_, j) => new Writer(`writer-${i}-${j}`, client, this.ledger, this.#random),
      ),
    );
  }

  /**
   * Writers write until the server is killed at some moment; then it is started again, and everything is
   * compared.
   */
  async liveOnce(): Promise<void> {
    const { revision } = await this.compare();
    await this.#resumeFrom(Math.max(1, revision - this.#random.int(3)));
    const writing = this.#writers.map((writer) => writer.untilBroken());
    const resuming = sleep(this.#random.int(lifeMsMax)).then(() => this.#resumeFrom(revision));
    await Promise.race([Promise.all([sleep(this.#random.int(lifeMsMax)), this.#written()]), ...writing]);
    await this.#kill();
    await Promise.all([...writing, resuming]);
    if (this.#random.int(5) === 0) await this.#killWhileStarting();
    await this.#server.start();
  }

  /** The ledger against what the server has. */
  async compare(): Promise<{ readonly revision: number }> {
    const { present, revision } = await readAll(this.#anyClient());
    expect(revision).toBeGreaterThanOrEqual(this.ledger.highest);
    this.ledger.check(present);
    return { revision };
  }

  async #written(): Promise<void> {
    const { kills } = this;
    const wanted = this.ledger.writes + this.#random.int(writesMax);
    while (this.kills === kills && this.ledger.writes < wanted) await sleep(1);
  }

  async #resumeFrom(revision: number): Promise<void> {
    this.resumptions[await resume(this.#anyClient(), this.ledger, revision)]++;
  }

  async #killWhileStarting(): Promise<void> {
    void this.#server.launch();
    await sleep(this.#random.int(startMsMax));
    await this.#kill();
  }

  async #kill(): Promise<void> {
    await this.#server.kill();
    this.kills++;
  }

  #anyClient(): Client {
    const client = this.#clients[this.#random.int(this.#clients.length)];
    if (client === undefined) throw new Error("There is no connection");
    return client;
  }
}

test(`an API server that is killed ${killsMin} times under writers loses nothing, revives nothing and gives no revision twice`, async () => {
  await using parts = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), "setpoint-durability-"));
  parts.defer(() => rmSync(directory, { recursive: true }));
  const story = new Story(parts.use(new ServerProcess(join(directory, "data"))), seededRandom(3));
  await story.begin(directory, parts);
  while (story.kills < killsMin) await story.liveOnce();
  await story.compare();

  const { writes, deletions, unknown } = story.ledger;
  console.log(
    `${story.kills} kills, ${writes} writes and ${deletions} deletions acknowledged, of ${unknown.done + unknown.notDone} without an answer ${unknown.done} done; watches: ${JSON.stringify(story.resumptions)}`,
  );
  // The story must have tested what it says: both ends of an unanswered write, both answers to an old watch.
  expect(writes).toBeGreaterThan(5 * killsMin);
  expect(deletions).toBeGreaterThan(killsMin / 2);
  expect(unknown.done + unknown.notDone).toBeGreaterThan(killsMin);
  expect(story.resumptions.replayed).toBeGreaterThan(1);
  expect(story.resumptions.gone).toBeGreaterThan(1);
});
