/** A store that fails where a test wants it, in front of a working one. */
import { TransferError } from "../engine/transfer-error.ts";
import type { BackupStorage } from "./backup-storage.ts";

/** How one call fails. */
export type StorageFault =
  /** Nothing happens, and the call rejects. */
  | "refuse"
  /** The call takes effect, and its answer is lost. */
  | "loseAnswer"
  /** A write stores half of the bytes, and resolves. A read returns half of them. Other calls reject. */
  | "cutOff"
  /** A write or read changes one bit, and resolves. Other calls reject. */
  | "flipBit";

/** Asked before each call; `index` counts from 0. */
export type FaultChoice = (index: number, call: keyof BackupStorage, path: string) => StorageFault | undefined;

/** A storage whose calls fail as `choose` says. */
export function faultyStorage(inner: BackupStorage, choose: FaultChoice): BackupStorage {
  let calls = 0;
  const act = async <Result>(
    call: keyof BackupStorage,
    path: string,
    run: () => Promise<Result>,
    spoil?: (fault: StorageFault) => Promise<Result>,
  ): Promise<Result> => {
    const fault = choose(calls++, call, path);
    if (fault === undefined) return run();
    if ((fault === "cutOff" || fault === "flipBit") && spoil !== undefined) return spoil(fault);
    if (fault === "loseAnswer") await run();
    throw new TransferError("StoreUnreachable", `Cannot ${call} "${path}": the fault ${fault} was injected.`);
  };
  return {
    place: inner.place,
    write: (path, bytes, signal) =>
      act(
        "write",
        path,
        () => inner.write(path, bytes, signal),
        (fault) => inner.write(path, spoiled(bytes, fault), signal),
      ),
    read: (path, bytesMax, signal) =>
      act(
        "read",
        path,
        () => inner.read(path, bytesMax, signal),
        async (fault) => spoiled(await inner.read(path, bytesMax, signal), fault),
      ),
    stat: (path, signal) => act("stat", path, () => inner.stat(path, signal)),
    list: (folder, signal) => act("list", folder, () => inner.list(folder, signal)),
    delete: (path, signal) => act("delete", path, () => inner.delete(path, signal)),
    idle: () => inner.idle(),
  };
}

function spoiled(bytes: Uint8Array, fault: StorageFault): Uint8Array {
  if (fault === "cutOff") return bytes.subarray(0, Math.floor(bytes.length / 2));
  const changed = Uint8Array.from(bytes);
  const middle = Math.floor(changed.length / 2);
  if (changed.length > 0) changed[middle] = (changed[middle] ?? 0) ^ 1;
  return changed;
}
