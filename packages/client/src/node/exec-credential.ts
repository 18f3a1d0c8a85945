/** Credentials from a command (client.authentication.k8s.io), kept until they expire. */
import type { Clock } from "@setpoint/host";
import type { ClientCredential } from "./connection-options.ts";
import { type ExecCredentialSpec, kubeconfigError } from "./kubeconfig.ts";
import { lazyModules } from "./lazy-modules.ts";

/** A new credential is asked for this long before the old one ends. */
const renewBeforeMs = 10_000;
const outputBytesMax = 1024 * 1024;

/** The exec plugin to run, and the cluster that it is run for. */
export interface ExecCredentialOptions {
  readonly clock: Clock;
  readonly spec: ExecCredentialSpec;
  /** The cluster as the plugin sees it, when the spec asks for it. */
  readonly cluster?: Readonly<Record<string, unknown>>;
}

interface KeptCredential {
  readonly credential: ClientCredential;
  readonly until: number;
}

/**
 * A source of credentials that runs the command when it has none, when the one it has ends, and when told to
 * refresh; once for all who ask while it runs.
 */
export function execCredential(options: ExecCredentialOptions): (refresh: boolean) => Promise<ClientCredential> {
  let kept: KeptCredential | undefined;
  let running: Promise<KeptCredential> | undefined;
  return async (refresh) => {
    if (kept !== undefined && !refresh && options.clock.now() < kept.until) return kept.credential;
    running ??= newCredential(options).finally(() => {
      running = undefined;
    });
    kept = await running;
    return kept.credential;
  };
}

async function newCredential(options: ExecCredentialOptions): Promise<KeptCredential> {
  return parseCredential(options.spec, await runPlugin(options));
}

function runPlugin({ spec, cluster }: ExecCredentialOptions): Promise<string> {
  const info = {
    apiVersion: spec.apiVersion,
    kind: "ExecCredential",
    spec: { interactive: false, ...(spec.provideClusterInfo === true ? { cluster } : {}) },
  };
  const env: NodeJS.ProcessEnv = { ...process.env, KUBERNETES_EXEC_INFO: JSON.stringify(info) };
  for (const { name, value } of spec.env ?? []) env[name] = value;
  return new Promise((resolve, reject) => {
    lazyModules
      .childProcess()
      .execFile(spec.command, [...(spec.args ?? [])], { env, maxBuffer: outputBytesMax }, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        const hint = spec.installHint === undefined ? "" : `\n${spec.installHint}`;
        const text = stderr.trim() === "" ? error.message : stderr.trim();
        reject(kubeconfigError(`Cannot get a credential from "${spec.command}": ${text}${hint}`, error));
      });
  });
}

interface CredentialStatus {
  readonly token?: string;
  readonly clientCertificateData?: string;
  readonly clientKeyData?: string;
  readonly expirationTimestamp?: string;
}

function parseCredential(spec: ExecCredentialSpec, output: string): KeptCredential {
  let answer: { readonly apiVersion?: string; readonly status?: CredentialStatus };
  try {
    answer = JSON.parse(output) as typeof answer;
  } catch (cause) {
    throw kubeconfigError(`Cannot get a credential from "${spec.command}": its output is not JSON`, cause);
  }
  const { status } = answer;
  if (answer.apiVersion !== spec.apiVersion || status === undefined) {
    const got = answer.apiVersion ?? "none";
    const message = `it answered apiVersion "${got}", expected "${spec.apiVersion}" with a status`;
    throw kubeconfigError(`Cannot get a credential from "${spec.command}": ${message}`);
  }
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  const until = expirationTimestamp === undefined ? Infinity : Date.parse(expirationTimestamp) - renewBeforeMs;
  const pair = cert === undefined || key === undefined ? {} : { cert, key };
  return { credential: { ...(token === undefined ? {} : { token }), ...pair }, until };
}
