/**
 * What an operator must do wherever it runs: one story, told by assertions that know nothing of the place.
 */
import { ConfigMap } from "@setpoint/api";
import { isNotFound, type KubeObject, type ObjectOf } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import { Candy } from "../../examples/candy/candy.ts";

/** A place in which the operator runs already. */
export interface Stage {
  readonly client: Client;
  /** The promise's value; in a world whose time is virtual, time passes meanwhile. */
  wait<T>(promise: Promise<T>): Promise<T>;
  /** Lets time pass. */
  pass(milliseconds: number): Promise<void>;
}

/** One claim, and how long it took to become true in the place's own time. */
export interface Claim {
  readonly claim: string;
  readonly ms: number;
}

/** A genuine garbage collector looks for new kinds every 30 s. */
const claimMsMax = 60_000;
const lookMs = 20;
/** Long enough for anything that is written again and again to show. */
const restMs = 2_500;
const key = { name: "mint", namespace: "default" };
const childKey = { name: "mint-wrapper", namespace: "default" };

/** Throws at the first claim that does not hold. */
export async function tellStory(stage: Stage): Promise<readonly Claim[]> {
  const { client } = stage;
  const claims: Claim[] = [];
  const until = async (claim: string, holds: () => Promise<boolean>): Promise<void> => {
    let ms = 0;
    for (; !(await stage.wait(holds())); ms += lookMs) {
      if (ms > claimMsMax) throw new Error(`Not after ${claimMsMax / 1_000} s: ${claim}`);
      await stage.pass(lookMs);
    }
    claims.push({ claim, ms });
  };
  const child = (): Promise<Stored<ConfigMap> | undefined> => found(client.get(ConfigMap, childKey));
  const parent = (): Promise<Stored<ObjectOf<typeof Candy>>> => client.get(Candy, key);

  await stage.wait(client.create(Candy, Candy({ ...key, spec: { name: "Mint" } })));
  await until(
    "a child is made, with the defaults of the spec",
    async () => (await child())?.data?.["flavor"] === "mint",
  );
  await until("the child belongs to its parent", async () => {
    const [owner] = (await child())?.metadata.ownerReferences ?? [];
    return owner?.controller === true && owner.uid === (await parent()).metadata.uid;
  });
  await until("the status says so", async () => (await parent()).status?.wrapped === true);

  await stage.wait(client.patch(Candy, key, { spec: { flavor: "lemon" } }));
  await until("a change of the spec reaches the child", async () => (await child())?.data?.["flavor"] === "lemon");

  await stage.wait(client.patch(ConfigMap, childKey, { data: { flavor: "salt" } }));
  await until("what others change is put right", async () => (await child())?.data?.["flavor"] === "lemon");

  const lost = (await stage.wait(client.get(ConfigMap, childKey))).metadata.uid;
  await stage.wait(client.delete(ConfigMap, childKey));
  await until("what others delete comes back", async () => {
    const uid = (await child())?.metadata.uid;
    return uid !== undefined && uid !== lost;
  });
  await until("and the status says so again", async () => (await parent()).status?.wrapped === true);

  const before = await stage.wait(revisions(client));
  await stage.pass(restMs);
  await until("at rest nothing is written", async () => (await revisions(client)) === before);

  await stage.wait(client.delete(Candy, key));
  await until("with the parent the child goes", async () => (await child()) === undefined);
  return claims;
}

async function revisions(client: Client): Promise<string> {
  const objects: readonly KubeObject[] = [await client.get(Candy, key), await client.get(ConfigMap, childKey)];
  return objects.map(({ metadata }) => metadata.resourceVersion).join();
}

async function found<T>(object: Promise<T>): Promise<T | undefined> {
  try {
    return await object;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
