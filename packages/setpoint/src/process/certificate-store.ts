/** Where the certificates are kept: in a Secret that all replicas share, or in this process alone. */
import { Secret } from "@setpoint/api";
import { isAlreadyExists, isConflict, isNotFound, type NamespacedName, SetpointError } from "@setpoint/apimachinery";
import type { Client } from "@setpoint/client";
import type { Host } from "@setpoint/host";
import { Informer } from "@setpoint/runtime";
import { type CertificateState, trustBundle } from "./certificate-plan.ts";

export interface CertificateStore {
  /** The newest state after `change` has been made to it, by this process or another one. */
  update(change: (state: CertificateState | undefined) => CertificateState): Promise<CertificateState>;
  /** Tells of states that others have written, until the signal aborts. */
  follow(onChange: (state: CertificateState) => void, signal: AbortSignal): Promise<void>;
}

/** For a single process on a desk. */
export function processStore(): CertificateStore {
  let state: CertificateState | undefined;
  return {
    async update(change) {
      state = change(state);
      return state;
    },
    async follow() {},
  };
}

/** Replicas that write at the same time: one is first, the others take what it has written. */
const attemptsMax = 10;
const stateKey = "state.json";

export function secretStore(client: Client, host: Host, key: NamespacedName): CertificateStore {
  return {
    update: (change) => updateSecret(client, key, change),
    async follow(onChange, signal) {
      const { namespace, name } = key;
      const selection = { fieldSelector: `metadata.name=${name}`, ...(namespace === undefined ? {} : { namespace }) };
      const informer = new Informer(client, host, Secret, selection);
      const read = (secret: Secret): void => {
        const state = parseState(secret);
        if (state !== undefined) onChange(state);
      };
      informer.addHandler({ onAdd: read, onUpdate: (_old, next) => read(next) });
      await informer.run(signal);
    },
  };
}

async function updateSecret(
  client: Client,
  key: NamespacedName,
  change: (state: CertificateState | undefined) => CertificateState,
): Promise<CertificateState> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const secret = await readSecret(client, key);
    const state = secret === undefined ? undefined : parseState(secret);
    const wanted = change(state);
    if (wanted === state) return wanted;
    try {
      await (secret === undefined
        ? client.create(Secret, Secret({ ...key, type: "Opaque", data: dataOf(wanted) }))
        : client.update(Secret, { ...secret, data: dataOf(wanted) }));
      return wanted;
    } catch (error) {
      if (!isConflict(error) && !isAlreadyExists(error)) throw error;
    }
  }
  const message = `Cannot update Secret "${key.name}": other clients changed it during each of ${attemptsMax} attempts`;
  throw new SetpointError("ERR_WEBHOOK_SECRET", message);
}

async function readSecret(client: Client, key: NamespacedName): Promise<Secret | undefined> {
  try {
    return await client.get(Secret, key);
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Beside the state, the files that other tools know. */
function dataOf(state: CertificateState): Readonly<Record<string, string>> {
  return {
    [stateKey]: encoded(JSON.stringify(state)),
    "ca.crt": encoded(trustBundle(state)),
    "tls.crt": encoded(state.serving.certificate),
    "tls.key": encoded(state.serving.key),
  };
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}

function parseState({ data, metadata }: Secret): CertificateState | undefined {
  const text = data?.[stateKey];
  // A Secret that was created empty in advance is filled.
  if (text === undefined) return undefined;
  try {
    // Only this program writes the state, and always a whole one.
    return JSON.parse(Buffer.from(text, "base64").toString("utf8")) as CertificateState;
  } catch (cause) {
    const message = `Cannot read Secret "${metadata.name ?? ""}": "${stateKey}" is damaged; delete the Secret, and new certificates are made`;
    throw new SetpointError("ERR_WEBHOOK_SECRET", message, { cause });
  }
}
