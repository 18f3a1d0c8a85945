/** Reads a group of members and writes its record by compare-and-swap. Recreates a lost record. */
import { isAlreadyExists, isConflict, isNotFound } from "@setpoint/apimachinery";
import type { Client, Stored } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { Lease } from "./lease.ts";
import { groupLabel, recordWith, repairedEpochs, seenGroup, withNextEpoch, type SeenGroup } from "./shard-record.ts";

export interface GroupRecordOptions {
  readonly name: string;
  readonly namespace: string;
  /** Who writes. */
  readonly identity: string;
}

export class GroupRecord {
  readonly #client: Client;
  readonly #host: Host;
  readonly #options: GroupRecordOptions;

  constructor(client: Client, host: Host, options: GroupRecordOptions) {
    this.#client = client;
    this.#host = host;
    this.#options = options;
  }

  /** A consistent list: record and Leases are of one revision. */
  async list(signal: AbortSignal): Promise<SeenGroup> {
    const { name, namespace } = this.#options;
    const labelSelector = `${groupLabel}=${name}`;
    const { items } = await this.#client.listAll<Lease>(Lease, { namespace, labelSelector, signal });
    return seenGroup(name, items);
  }

  /**
   * Writes the membership that was seen as a new epoch, later than `known`; of several members that do so one
   * wins.
   */
  async propose(seen: SeenGroup, known: number, signal: AbortSignal): Promise<void> {
    const isLost = seen.isRecordLost === true;
    const epochs = isLost ? repairedEpochs(seen, known) : withNextEpoch(seen);
    try {
      const present = seen.record ?? (await this.#unlabelled(signal));
      const next = recordWith(present, epochs, this.#options);
      if (present === undefined) await this.#client.create<Lease>(Lease, next, { signal });
      else await this.#client.update<Lease>(Lease, next, { signal });
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
      return;
    }
    if (isLost) this.#tellRepair(seen, epochs.at(-1)?.epoch);
  }

  /** The group's Lease by its name, in case another client has removed the label that selects it. */
  async #unlabelled(signal: AbortSignal): Promise<Stored<Lease> | undefined> {
    const { name, namespace } = this.#options;
    try {
      const record = await this.#client.get(Lease, { name, namespace }, { signal });
      return record.metadata.labels?.[groupLabel] === name ? undefined : record;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  #tellRepair({ record }: SeenGroup, epoch: number | undefined): void {
    const { name: group, identity } = this.#options;
    const fields = { group, identity, epoch };
    if (record === undefined) this.#host.log.warn("Recreated the deleted record of the group", fields);
    else this.#host.log.warn("Recreated the damaged record of the group", fields);
    this.#host.metrics
      .counter("setpoint_shard_repairs_total", "Times that this member has recreated the lost record of its group.")
      .add(1, { group });
  }
}
