import type { Clock } from "@setpoint/host";
import type { Storage, StorageDecision } from "../../storage/storage.ts";
import type { HealthCheck } from "./health.ts";

/** Clients read it without credentials, so its probe writes are limited: at most one in this time. */
const probeMsMin = 1_000;
const probeKey = { prefix: "/setpoint/health", path: "probe" };

/** Creates and deletes the object in turns, so that the store does not grow. */
const probe: StorageDecision = (current) =>
  current === undefined ? { apiVersion: "v1", kind: "Probe", metadata: { name: "probe" } } : "delete";

/**
 * Fails while the storage cannot make writes durable: a full disk, a file that cannot be written. It passes
 * again after a write succeeds; while no client writes, the check tries a write itself. It has the name of
 * upstream's check, because clients read checks by name.
 */
export function storageCheck(storage: Pick<Storage, "writeFailure" | "write">, clock: Clock): HealthCheck {
  let probedMs = Number.NEGATIVE_INFINITY;
  let probing: Promise<void> = Promise.resolve();
  const tryToWrite = async (): Promise<void> => {
    // `writeFailure` reports its failure.
    await storage.write(probeKey, probe).catch(() => {});
  };
  return {
    name: "etcd",
    async check() {
      if (storage.writeFailure === undefined) return;
      if (clock.monotonic() - probedMs >= probeMsMin) {
        probedMs = clock.monotonic();
        probing = tryToWrite();
      }
      await probing;
      if (storage.writeFailure !== undefined) throw storage.writeFailure;
    },
  };
}
