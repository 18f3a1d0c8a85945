/** `setpoint connect`: a Service of any cluster on this machine's loopback, by a forwarded port. */
import { parseArgs } from "node:util";
import { Service } from "@setpoint/api";
import { isNotFound, messageOf, SetpointError } from "@setpoint/apimachinery";
import { type Client, createClient } from "@setpoint/client";
import {
  connect as openTransport,
  forwardConnections,
  type PortForward,
  resolveConnection,
} from "@setpoint/client/node";
import { sleep } from "@setpoint/host";
import { systemHost } from "@setpoint/host/system";
import {
  type Command,
  type Output,
  parseNamespace,
  parseNumber,
  refuseMore,
  untilSignal,
  usageError,
} from "../command.ts";
import { connectedText } from "../connect/connect-text.ts";
import { certificateNames } from "../connect/server-certificate.ts";
import { ServiceConnection, type ServiceConnectionOptions } from "../connect/service-connection.ts";
import { portsToConnect, type ServicePort, serviceUnreachable, type Target } from "../connect/service-target.ts";

const portMax = 65_535;
const readyPollMs = 1_000;

export const connect: Command = {
  name: "connect",
  usage: "connect SERVICE[:PORT] [-n NS] [--port LOCAL] [--kubeconfig FILE] [--context NAME]",
  summary:
    "Reach a Service from this machine until ^C: forwards a port of this machine through the API server to a ready pod. PORT is a name or a number (default: all); --port chooses the local port (default: the same).",
  async run(args, output) {
    const text = { type: "string" } as const;
    const options = { namespace: { ...text, short: "n" }, port: text, kubeconfig: text, context: text } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    refuseMore("connect to a Service", positionals, 1);
    const { service, port } = parseService(positionals[0]);
    const localPort = values.port === undefined ? undefined : parseNumber("port", values.port, 0, portMax);
    const stop = new AbortController();
    void untilSignal().then(() => stop.abort(new Error("stopped")));
    const host = systemHost({ write: () => {} });
    const { kubeconfig, context } = values;
    const where = {
      clock: host.clock,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    };
    const { connection, namespace: current } = resolveConnection(where);
    const namespace = values.namespace === undefined ? current : parseNamespace("namespace", values.namespace);
    await using transport = openTransport(where);
    const client = createClient(transport, host);
    const found = await findService(client, service, namespace);
    const ports = portsToConnect(found, port);
    if (localPort !== undefined && localPort !== 0 && ports.length > 1)
      throw new SetpointError(
        usageError,
        `Cannot use --port ${localPort} for ${ports.length} ports of Service "${service}": name one, as in ${service}:${ports[0]?.port}`,
      );
    const say = (line: string): void => output.err(`${line}\n`);
    const common = { client, connection, clock: host.clock, namespace, service, say };
    await using forwards = new AsyncDisposableStack();
    try {
      for (const each of ports) forwards.use(await forward({ ...common, port: each }, localPort, output, stop.signal));
      output.out("^C ends it.\n");
      await untilAborted(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) throw error;
    }
    return 0;
  },
};

/** `orders`, `svc/orders` or `orders:client`. */
function parseService(text: string | undefined): { readonly service: string; readonly port: string | undefined } {
  const [, service, port] = /^(?:(?:svc|service|services)\/)?([^:/]+)(?::([^:/]+))?$/.exec(text ?? "") ?? [];
  if (service !== undefined) return { service, port };
  const got = text === undefined ? "" : `, got "${text}"`;
  throw new SetpointError(
    usageError,
    `Cannot connect to a Service: expected its name, as in orders or orders:2379${got}`,
  );
}

async function findService(client: Client, name: string, namespace: string): Promise<Service> {
  const found = await client.get(Service, { name, namespace }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (found !== undefined) return found;
  const where = '"kubectl get services -A" shows all, -n NAMESPACE names another';
  const why = `namespace "${namespace}" has none of this name; ${where}`;
  throw new SetpointError(serviceUnreachable, `Cannot connect to Service "${name}": ${why}`);
}

/** Listens, and prints what to type. */
async function forward(
  options: ServiceConnectionOptions,
  localPort: number | undefined,
  output: Output,
  stop: AbortSignal,
): Promise<PortForward> {
  const { namespace, service, port, say } = options;
  const connection = new ServiceConnection(options);
  const target = await untilReady(connection, options, stop);
  const onError = (error: unknown): void => say(messageOf(error));
  const listening = { open: (signal: AbortSignal) => connection.open(signal), onError };
  const forwarded = await listen(localPort, port, listening);
  if (localPort === undefined && forwarded.localPort !== port.port)
    say(`Port ${port.port} of this machine is taken: port ${forwarded.localPort} is used instead`);
  const names = await connection.open(stop).then(
    (stream) => certificateNames(stream.once("error", onError), `${service}.${namespace}.svc`),
    (error: unknown) => void say(messageOf(error)),
  );
  output.out(
    `${connectedText({ namespace, service, port, localPort: forwarded.localPort, target, names: names ?? undefined })}\n`,
  );
  return forwarded;
}

async function untilReady(
  connection: ServiceConnection,
  { service, clock, say }: ServiceConnectionOptions,
  stop: AbortSignal,
): Promise<Target> {
  let said = false;
  for (;;) {
    const target = await connection.target();
    if (target !== undefined) return target;
    if (!said) say(`Waiting for a ready pod of Service "${service}" …`);
    said = true;
    await sleep(clock, readyPollMs, stop);
  }
}

type Forwarding = Omit<Parameters<typeof forwardConnections>[0], "localPort">;

/** At the wanted port; without one at the Service's own, or at a free one where that cannot be had. */
async function listen(wanted: number | undefined, { port }: ServicePort, options: Forwarding): Promise<PortForward> {
  try {
    return await forwardConnections({ ...options, localPort: wanted ?? port });
  } catch (cause) {
    if (wanted === undefined) return forwardConnections({ ...options, localPort: 0 });
    const why = `Cannot listen at 127.0.0.1:${wanted}: ${messageOf(cause)}; choose another --port, or leave it out`;
    throw new SetpointError("ERR_PORT_IN_USE", why, { cause });
  }
}

function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
