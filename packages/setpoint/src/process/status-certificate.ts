/** The status server's certificate: its own, or one in files that another program (cert-manager) renews. */
import { createSecureContext } from "node:tls";
import { messageOf, SetpointError } from "@setpoint/apimachinery";
import type { KeyPair } from "@setpoint/host/certificates";
import { type CertificatePorts, type CertificateState, planCertificates } from "./certificate-plan.ts";

/** Paths of PEM files, as cert-manager and others write them into a mounted Secret. */
export interface CertificateFiles {
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface StatusCertificate {
  /**
   * What is to be served now; the same object while nothing changes. Throws when the files cannot be read.
   */
  current(): KeyPair;
}

export interface OwnCertificateOptions extends CertificatePorts {
  /** Names and addresses by which the process is asked. */
  readonly hosts: readonly string[];
}

/**
 * A self-signed certificate that no client knows beforehand, as controller-runtime's metrics have by default.
 * It protects tokens on the network; it does not prove the server's identity to Prometheus. It is renewed in
 * time, as the webhooks' certificates are; no key leaves the process.
 */
export function ownCertificate({ hosts, ...ports }: OwnCertificateOptions): StatusCertificate {
  let state: CertificateState | undefined;
  return {
    current() {
      const planned = planCertificates(state, hosts, ports);
      // No client needs a trust bundle.
      state = planned.publishedAtMs === undefined ? { ...planned, publishedAtMs: ports.clock.now() } : planned;
      return state.serving;
    },
  };
}

/** What the files hold, also after they have been replaced. Errors: `ERR_BAD_CERTIFICATE_FILE`. */
export function certificateFromFiles(files: CertificateFiles, what = "the metrics"): StatusCertificate {
  let known: KeyPair | undefined;
  return {
    current() {
      const read = { certificate: readText(files.certificateFile, what), key: readText(files.keyFile, what) };
      if (known?.certificate === read.certificate && known.key === read.key) return known;
      assertUsable(read, files, what);
      known = read;
      return known;
    },
  };
}

function readText(file: string, what: string): string {
  try {
    // Not imported: to read what node:fs exports is to load its streams, watchers and a line editor.
    return process.getBuiltinModule("node:fs").readFileSync(file, "utf8");
  } catch (cause) {
    throw badFile(`Cannot read "${file}" for the certificate of ${what}: ${messageOf(cause)}`, cause);
  }
}

function assertUsable({ certificate, key }: KeyPair, files: CertificateFiles, what: string): void {
  const { certificateFile, keyFile } = files;
  try {
    createSecureContext({ cert: certificate, key });
  } catch (cause) {
    const wanted = "expected a certificate and its own key, both PEM";
    throw badFile(
      `Cannot serve ${what} with "${certificateFile}" and "${keyFile}": ${messageOf(cause)}; ${wanted}`,
      cause,
    );
  }
}

function badFile(message: string, cause: unknown): SetpointError {
  return new SetpointError("ERR_BAD_CERTIFICATE_FILE", message, { cause });
}
