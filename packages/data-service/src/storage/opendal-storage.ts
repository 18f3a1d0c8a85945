/** Folders, S3, GCS and Azure by opendal. */
import { Operator, RetryLayer, TimeoutLayer } from "opendal";
import { cancelledError, TransferError } from "../engine/transfer-error.ts";
import { type BackupStorage, checkPath } from "./backup-storage.ts";
import { translateOpendalError } from "./opendal-error.ts";
import { secretText } from "./secret-files.ts";
import { placeName, type StorePlace } from "./store-place.ts";

/** How often and how long one call is tried. */
export interface StoragePatience {
  readonly retries: number;
  readonly retryDelayMsMin: number;
  readonly callMsMax: number;
  /** For calls that move a part: 8 MiB at 1 Mbit/s take 64 s. */
  readonly transferMsMax: number;
}

const patient: StoragePatience = { retries: 4, retryDelayMsMin: 250, callMsMax: 30_000, transferMsMax: 120_000 };
const retryDelayMsMax = 10_000;

/**
 * Opens the store. Throws `StoreRefused` when its settings or credentials cannot be right; it sends no
 * request.
 */
export function openStorage(
  place: StorePlace,
  prefix: string,
  credentialsFolder: string,
  patience: StoragePatience = patient,
): BackupStorage {
  checkPrefix(prefix);
  const name = placeName(place);
  const [scheme, options] = optionsOf(place, prefix, credentialsFolder);
  try {
    const bare = new Operator(scheme, options);
    const operator = bare.layer(timeoutLayer(patience)).layer(retryLayer(patience));
    // opendal would make the prefix's folder at once, which a claim that is mounted for reading does not
    // allow.
    return opendalStorage(operator, name, place.type === "folder" ? prefix : "");
  } catch (error) {
    throw asRefusal(translateOpendalError(error, "open the store", name));
  }
}

/** The kind BackupStore allows dots in a prefix; as a whole segment they would lead out of the store. */
function checkPrefix(prefix: string): void {
  if (!prefix.split("/").some((segment) => /^\.+$/.test(segment))) return;
  throw new TransferError(
    "StoreRefused",
    `Cannot use the prefix "${prefix}" of the store: a segment consists of dots. Change it in the BackupStore.`,
  );
}

type Options = Record<string, string>;

function optionsOf(place: StorePlace, prefix: string, credentialsFolder: string): readonly [string, Options] {
  const credential = (key: string): string => secretText(credentialsFolder, key);
  switch (place.type) {
    case "folder":
      return ["fs", { root: place.folder }];
    case "s3":
      return ["s3", s3Options(place, prefix, credential)];
    case "gcs":
      return ["gcs", gcsOptions(place, prefix, credential)];
    case "azure":
      return [
        "azblob",
        {
          container: place.container,
          root: `/${prefix}`,
          endpoint: place.endpoint,
          account_name: credential("account-name"),
          account_key: credential("account-key"),
        },
      ];
  }
}

function s3Options(
  { bucket, region, endpoint }: Extract<StorePlace, { type: "s3" }>,
  prefix: string,
  credential: (key: string) => string,
): Options {
  return {
    bucket,
    region,
    root: `/${prefix}`,
    ...(endpoint === undefined ? {} : { endpoint }),
    access_key_id: credential("access-key-id"),
    secret_access_key: credential("secret-access-key"),
    // Only the credentials of the Secret count, never what the pod's environment or the cloud offers.
    disable_config_load: "true",
    disable_ec2_metadata: "true",
  };
}

function gcsOptions(
  { bucket, endpoint }: Extract<StorePlace, { type: "gcs" }>,
  prefix: string,
  credential: (key: string) => string,
): Options {
  return {
    bucket,
    root: `/${prefix}`,
    ...(endpoint === undefined ? {} : { endpoint }),
    credential: Buffer.from(credential("service-account.json")).toString("base64"),
    disable_vm_metadata: "true",
    disable_config_load: "true",
  };
}

function timeoutLayer({ callMsMax, transferMsMax }: StoragePatience): ReturnType<TimeoutLayer["build"]> {
  const layer = new TimeoutLayer();
  layer.timeout = callMsMax;
  layer.ioTimeout = transferMsMax;
  return layer.build();
}

function retryLayer({ retries, retryDelayMsMin }: StoragePatience): ReturnType<RetryLayer["build"]> {
  const layer = new RetryLayer();
  layer.maxTimes = retries;
  layer.minDelay = retryDelayMsMin;
  layer.maxDelay = retryDelayMsMax;
  layer.jitter = true;
  return layer.build();
}

function opendalStorage(operator: Operator, place: string, prefix: string): BackupStorage {
  const base = prefix === "" ? "" : `${prefix.replace(/\/$/, "")}/`;
  const underWay = new Set<Promise<unknown>>();
  const call = <Result>(action: string, signal: AbortSignal, start: () => Promise<Result>): Promise<Result> => {
    const tracked = (): Promise<Result> => {
      const started = start();
      const ended = started
        .then(
          () => {},
          () => {},
        )
        .finally(() => underWay.delete(ended));
      underWay.add(ended);
      return started;
    };
    return untilAborted(signal, tracked, (error) => translateOpendalError(error, action, place));
  };
  const storage: BackupStorage = {
    place,
    async write(path, bytes, signal) {
      checkPath(path);
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      try {
        await call(`write "${path}"`, signal, () => operator.write(base + path, buffer));
      } catch (error) {
        throw asRefusal(error);
      }
    },
    async read(path, bytesMax, signal) {
      checkPath(path);
      const bytes = await storage.stat(path, signal);
      if (bytes !== undefined && bytes > bytesMax)
        throw new TransferError(
          "BackupDamaged",
          `"${path}" in ${place} has ${bytes} bytes, expected at most ${bytesMax}.`,
        );
      return call(`read "${path}"`, signal, () => operator.read(base + path));
    },
    stat: (path, signal) =>
      call(`stat "${path}"`, signal, async () => {
        checkPath(path);
        return sizeOf(operator, base + path);
      }),
    async list(folder, signal) {
      checkPath(folder);
      const options = { recursive: true };
      try {
        const entries = await call(`list "${folder}"`, signal, () => operator.list(`${base}${folder}/`, options));
        return entries
          .map((entry) => entry.path().slice(base.length))
          .filter((path) => !path.endsWith("/"))
          .toSorted();
      } catch (error) {
        // A folder that is missing has no entries; GCS answers so for a missing bucket.
        throw asRefusal(error);
      }
    },
    async delete(path, signal) {
      checkPath(path.replace(/\/$/, ""));
      await call(`delete "${path}"`, signal, () => operator.delete(base + path));
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
  return storage;
}

/** A store that has nowhere to write to is set up wrongly: its bucket is missing. */
function asRefusal(error: unknown): unknown {
  if (!(error instanceof TransferError) || error.reason !== "BackupMissing") return error;
  return new TransferError(
    "StoreRefused",
    error.message.replace(/ Nothing is stored.*$/, " Create the bucket, or correct its name in the BackupStore."),
  );
}

async function sizeOf(operator: Operator, path: string): Promise<number | undefined> {
  try {
    return Number((await operator.stat(path)).contentLength ?? 0);
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("NotFound")) return undefined;
    throw error;
  }
}

/**
 * Calls of opendal cannot be cancelled: an aborted one goes on in the background, and its result is dropped.
 */
function untilAborted<Result>(
  signal: AbortSignal,
  start: () => Promise<Result>,
  translate: (error: unknown) => TransferError,
): Promise<Result> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(cancelledError());
    const onAbort = (): void => reject(cancelledError());
    signal.addEventListener("abort", onAbort, { once: true });
    start()
      .then(resolve, (error: unknown) => reject(error instanceof TransferError ? error : translate(error)))
      .finally(() => signal.removeEventListener("abort", onAbort));
  });
}
