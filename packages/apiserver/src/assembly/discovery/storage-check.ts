import type { Clock } from "@setpoint/host";
import type { Storage, StorageDecision } from "../../storage/storage.ts";
import type { HealthCheck } from "./health.ts";

/** It is readable without credentials, so it must not be a way to write as often as somebody asks. */
const probeMsMin = 1_000;
const probeKey = { prefix: "/setpoint/health", path: "probe" };

/** There and gone in turns, so that nothing gathers. */
const probe: StorageDecision = (current) =>
  current === undefined ? { apiVersion: "v1", kind: "Probe", metadata: { name: "probe" } } : "delete";

/**
 * Fails while writes cannot be made durable: a full disk, a file that cannot be written. A write that succeeds ends that, and while
 * nobody writes it tries one itself. Named as upstream's, for those who look at it by name.
 */
export function storageCheck(storage: Pick<Storage, "writeFailure" | "write">, clock: Clock): HealthCheck {
  let probedMs = Number.NEGATIVE_INFINITY;
  let probing: Promise<void> = Promise.resolve();
  const tryToWrite = async (): Promise<void> => {
    // Its failure is what `writeFailure` says.
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
