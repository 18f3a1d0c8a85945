/** What befalls clusters of all engines. Each disaster makes another member lead, or none for a while. */
import { setTimeout as delay } from "node:timers/promises";
import { injectFault } from "@setpoint/process-node";
import type { Arena, Disaster, Target } from "./target.ts";

/** What an engine calls its members, and how long a fault lasts that ends by itself. */
export interface DisasterWords {
  readonly leader: string;
  readonly follower: string;
  readonly members: string;
  readonly stopSeconds: number;
  readonly cutSeconds: number;
}

/** Another disaster may have ended the member already. */
export async function kill(target: Target, member: string): Promise<void> {
  for (const pid of await target.processesOf(member)) signal(pid, "SIGKILL");
}

/** Nothing happens to a process that has ended. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It ended while we looked.
  }
}

/** Processes that are stopped for longer than an election lasts, and then go on where they were. */
export async function stop(pids: readonly number[], ms: number): Promise<void> {
  for (const pid of pids) signal(pid, "SIGSTOP");
  try {
    await delay(ms);
  } finally {
    for (const pid of pids) signal(pid, "SIGCONT");
  }
}

/** Cuts the network between a member and those addresses; between it and everybody when there are none. */
export async function cutOff(
  { target, network }: Pick<Arena, "target" | "network">,
  member: string,
  peers?: readonly string[],
): Promise<AsyncDisposable> {
  const from = await target.addressOf(member);
  await using faults = new AsyncDisposableStack();
  const ends = peers === undefined ? [{}] : peers.map((to) => ({ to }));
  for (const end of ends) faults.use(await injectFault(network, { kind: "partition", from, ...end }));
  return faults.move();
}

export function commonDisasters(words: DisasterWords): readonly Disaster[] {
  const { leader, follower, members, stopSeconds, cutSeconds } = words;
  return [
    {
      name: `kill the ${leader}`,
      weight: 12,
      strike: async ({ target }) => kill(target, await target.leader()),
    },
    {
      name: `kill the ${leader} and a ${follower} at once`,
      weight: 2,
      strike: killTwo,
    },
    {
      name: `kill all ${members}`,
      weight: 2,
      async strike({ target }) {
        for (const member of [await target.leader(), ...(await target.followers())]) await kill(target, member);
      },
    },
    {
      name: `stop the ${leader}'s process for ${stopSeconds} s`,
      weight: 4,
      strike: async ({ target }) => stop(await target.processesOf(await target.leader()), stopSeconds * 1_000),
    },
    {
      name: `cut the ${leader} off for ${cutSeconds} s`,
      weight: 4,
      async strike(arena) {
        const member = await arena.target.leader();
        await using _fault = await cutOff(arena, member, await arena.target.peersOf(member));
        await delay(cutSeconds * 1_000);
      },
    },
  ];
}

async function killTwo({ target, pick }: Arena): Promise<void> {
  const member = await target.leader();
  const others = await target.followers();
  await kill(target, member);
  const other = others[pick(others.length)];
  if (other !== undefined) await kill(target, other);
}

/** Those with this text in their names. */
export function chosen<T extends Target>(
  disasters: readonly Disaster<T>[],
  only: string | undefined,
): readonly Disaster<T>[] {
  const found = disasters.filter(({ name }) => only === undefined || name.includes(only));
  if (found.length === 0) {
    const names = disasters.map(({ name }) => `"${name}"`).join(", ");
    throw new RangeError(`no disaster has "${only}" in its name; use a part of ${names}`);
  }
  return found;
}

/** A disaster by its weight. */
export function pickDisaster<T extends Target>(
  disasters: readonly Disaster<T>[],
  pick: (below: number) => number,
): Disaster<T> {
  let left = pick(disasters.reduce((sum, { weight }) => sum + weight, 0));
  for (const disaster of disasters) {
    left -= disaster.weight;
    if (left < 0) return disaster;
  }
  throw new RangeError("the weights of the disasters do not add up");
}
