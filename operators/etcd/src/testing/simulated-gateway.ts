/** Lets the operator speak to the model of etcd in a simulated world. Only tests import this. */
import { type EtcdModel, EtcdRefusal, type OperatorProcess } from "setpoint/testing";
import { type EtcdCredentials, EtcdError, type EtcdGateway } from "../gateway/etcd-gateway.ts";

/**
 * Calls go out through the operator's process, so that faults strike changes of the membership like any
 * write.
 */
export function simulatedGateway(
  model: EtcdModel,
  process: OperatorProcess,
  credentials: EtcdCredentials = {},
): EtcdGateway {
  const { login } = credentials;
  const { users } = model;
  const read = <T>(what: string, send: () => Promise<T>): Promise<T> =>
    process.call(`etcd ${what}`, "look", () => send().catch(translated));
  const write = (what: string, send: () => Promise<void>): Promise<void> =>
    process.call(`etcd ${what}`, "write", () => send().catch(translated));
  const admin = (endpoint: string, what: string, send: () => Promise<void>): Promise<void> =>
    write(what, async () => {
      await users.admit(endpoint, login);
      await send();
    });
  return {
    // The model has no handshakes; that certificates are right is the subject of other tests.
    withCredentials: (others) => simulatedGateway(model, process, others),
    authentication: (endpoint) =>
      read("authentication", async () => {
        const { enabled, users: present } = await users.of(endpoint);
        if (!enabled) return "Off";
        return login !== undefined && present[login.name]?.password === login.password ? "On" : "Refused";
      }),
    enableAuthentication: (endpoint) =>
      write("enable authentication", async () => {
        if (login === undefined) throw new EtcdError("there is no login");
        await users.admit(endpoint, (await users.of(endpoint)).enabled ? login : undefined);
        await users.set(endpoint, login.name, { password: login.password, rights: "root" });
        await users.enable(endpoint);
      }),
    resetRoot: (endpoint) =>
      write("reset root", async () => {
        if (login === undefined || credentials.tls === undefined)
          throw new EtcdError("there is no certificate of root");
        await users.set(endpoint, login.name, { password: login.password, rights: "root" });
      }),
    proveLogin: (endpoint, user) => read(`prove ${user.name}`, () => users.prove(endpoint, user)),
    ensureUser: (endpoint, { name, password }, rights) =>
      admin(endpoint, `user ${name}`, () => users.set(endpoint, name, { password, rights })),
    dropUser: (endpoint, name) => admin(endpoint, `drop user ${name}`, () => users.set(endpoint, name, undefined)),
    members: (endpoint) =>
      read("members", async () => {
        const { clusterId, members } = await model.memberList(endpoint);
        return {
          clusterId,
          members: members.map(({ id, name, peerUrl, isLearner }) => ({
            id,
            name,
            peerUrls: [peerUrl],
            learner: isLearner,
          })),
        };
      }),
    status: (endpoint) => read("status", () => model.status(endpoint, login)),
    position: (metricsEndpoint) => read("position", () => model.position(metricsEndpoint)),
    // A sample that is missed changes nothing, so no fault strikes it.
    measure: async (metricsEndpoint) => model.measure(metricsEndpoint),
    compact: (endpoint, revision) => write(`compact ${revision}`, () => model.compact(endpoint)),
    defragment: (endpoint) => admin(endpoint, "defragment", () => model.defragment(endpoint)),
    disarm: (endpoint) => write("disarm", () => model.disarm(endpoint)),
    readKey: (endpoint, key) =>
      read(`read ${key}`, async () => {
        await users.admit(endpoint, login);
        return (await model.keys(endpoint)).get(key);
      }),
    deleteKey: (endpoint, key) => admin(endpoint, `delete ${key}`, () => model.put(endpoint, key, undefined)),
    addLearner: (endpoint, peerUrl) => admin(endpoint, `add ${peerUrl}`, () => model.addLearner(endpoint, peerUrl)),
    promote: (endpoint, memberId) => admin(endpoint, `promote ${memberId}`, () => model.promote(endpoint, memberId)),
    remove: (endpoint, memberId) => admin(endpoint, `remove ${memberId}`, () => model.remove(endpoint, memberId)),
    moveLeader: (endpoint, targetId) =>
      admin(endpoint, `move leader to ${targetId}`, () => model.moveLeader(endpoint, targetId)),
  };
}

function translated(error: unknown): never {
  throw error instanceof EtcdRefusal ? new EtcdError(error.message) : error;
}
