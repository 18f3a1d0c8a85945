/** What `setpoint connect` prints; pure. */
import type { ServicePort, Target } from "./service-target.ts";

export interface Connected {
  readonly namespace: string;
  readonly service: string;
  readonly port: ServicePort;
  readonly localPort: number;
  readonly target: Target;
  /** Of the server's certificate; undefined when it does not speak TLS. */
  readonly names: readonly string[] | undefined;
}

const localNames = ["localhost", "127.0.0.1"];

/** The address to type, and with TLS how a client accepts the certificate there. */
export function connectedText(connected: Connected): string {
  const { namespace, service, port, localPort, target, names } = connected;
  const portName = port.name === "" ? "" : ` (${port.name})`;
  const head = `Service ${namespace}/${service}, port ${port.port}${portName}, now pod ${target.pod}:`;
  return [head, ...addressLines(connected, names, localPort)].join("\n");
}

function addressLines(
  connected: Connected,
  names: readonly string[] | undefined,
  localPort: number,
): readonly string[] {
  if (names === undefined) return [`  127.0.0.1:${localPort}`];
  const local = localNames.find((name) => names.includes(name));
  if (local !== undefined)
    return [
      `  https://${local}:${localPort}`,
      `  The server speaks TLS, and its certificate is valid for ${local}. Give the client the authority that signed it.`,
    ];
  return [`  127.0.0.1:${localPort}`, ...foreignNameLines(connected, names, localPort)];
}

/** The certificate is for a name at which nobody reaches this port: each client takes it in its own way. */
function foreignNameLines(
  { namespace, service }: Connected,
  names: readonly string[],
  localPort: number,
): readonly string[] {
  const name = bestName(names, service, namespace);
  if (name === undefined)
    return ["  The server speaks TLS with a certificate that names no host: clients must not check the name."];
  return [
    `  The server speaks TLS, and its certificate is valid for ${name}. Give the client this name:`,
    `    curl --cacert ca.crt --connect-to ${name}:${localPort}:127.0.0.1:${localPort} https://${name}:${localPort}/`,
    `    openssl s_client -connect 127.0.0.1:${localPort} -servername ${name}`,
    `  For a client that takes no such option, add the line "127.0.0.1 ${name}" to /etc/hosts, and use https://${name}:${localPort}`,
  ];
}

/** A name of the Service rather than one of another; never a pattern, which is no name. */
function bestName(names: readonly string[], service: string, namespace: string): string | undefined {
  const own = `${service}.${namespace}.svc`;
  if (names.includes(own) || names.includes(`*.${namespace}.svc`)) return own;
  const plain = names.filter((name) => !name.includes("*"));
  return plain.find((name) => name.startsWith(`${service}.`)) ?? plain[0];
}
