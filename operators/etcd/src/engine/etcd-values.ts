/** Single keys of etcd, as a client writes and reads them in acceptance tests. */
import { type AgentEnvironment, cancelledError, type EngineValues } from "@setpoint/data-service/agent";
import { endpointsOf, noneAnswers } from "./etcd-agent.ts";
import { EtcdConnection, type Json, readCredentials } from "./etcd-connection.ts";

export const etcdValues: EngineValues = {
  async write(key, value, environment) {
    await ask("/v3/kv/put", { key: encoded(key), value: encoded(value) }, environment);
  },
  async read(key, environment) {
    const { kvs = [] } = await ask("/v3/kv/range", { key: encoded(key) }, environment);
    const [found] = kvs as readonly { readonly value?: string }[];
    return found === undefined ? undefined : Buffer.from(found.value ?? "", "base64").toString("utf8");
  },
};

/** The member that has answered last, by the environment of the one probe of this process. */
const connections = new WeakMap<AgentEnvironment, EtcdConnection>();

/**
 * A member that fails is replaced by the first that answers, with a new login: tokens end with the member
 * that gave them.
 */
async function ask(path: string, body: Json, environment: AgentEnvironment): Promise<Json> {
  const known = connections.get(environment);
  if (known !== undefined) {
    try {
      return await known.call(path, body);
    } catch {
      connections.delete(environment);
    }
  }
  const failures: unknown[] = [];
  for (const endpoint of endpointsOf(environment.source)) {
    if (environment.signal.aborted) throw cancelledError();
    try {
      return await askAt(endpoint, path, body, environment);
    } catch (error) {
      failures.push(error);
    }
  }
  throw noneAnswers("No member of etcd answers.", failures);
}

async function askAt(endpoint: string, path: string, body: Json, environment: AgentEnvironment): Promise<Json> {
  const { secretFolder, signal } = environment;
  const connection = new EtcdConnection(endpoint, readCredentials(secretFolder), signal);
  await connection.open();
  const answer = await connection.call(path, body);
  connections.set(environment, connection);
  return answer;
}

function encoded(text: string): string {
  return Buffer.from(text).toString("base64");
}
