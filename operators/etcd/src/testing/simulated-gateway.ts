/** Lets the operator speak to the model of etcd in a simulated world. Only tests import this. */
import { type EtcdModel, EtcdRefusal, type OperatorProcess } from "setpoint/testing";
import { EtcdError, type EtcdGateway } from "../gateway/etcd-gateway.ts";

/** Calls go out through the operator's process, so that faults strike changes of the membership like any write. */
export function simulatedGateway(model: EtcdModel, process: OperatorProcess): EtcdGateway {
  const read = <T>(what: string, send: () => Promise<T>): Promise<T> =>
    process.call(`etcd ${what}`, "look", () => send().catch(translated));
  const write = (what: string, send: () => Promise<void>): Promise<void> =>
    process.call(`etcd ${what}`, "write", () => send().catch(translated));
  const gateway: EtcdGateway = {
    // The model has no handshakes; that certificates are right is the subject of other tests.
    withCredentials: () => gateway,
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
    status: (endpoint) => read("status", () => model.status(endpoint)),
    position: (metricsEndpoint) => read("position", () => model.position(metricsEndpoint)),
    // A sample that is missed changes nothing, so no fault strikes it.
    measure: async (metricsEndpoint) => model.measure(metricsEndpoint),
    compact: (endpoint, revision) => write(`compact ${revision}`, () => model.compact(endpoint)),
    defragment: (endpoint) => write("defragment", () => model.defragment(endpoint)),
    disarm: (endpoint) => write("disarm", () => model.disarm(endpoint)),
    addLearner: (endpoint, peerUrl) => write(`add ${peerUrl}`, () => model.addLearner(endpoint, peerUrl)),
    promote: (endpoint, memberId) => write(`promote ${memberId}`, () => model.promote(endpoint, memberId)),
    remove: (endpoint, memberId) => write(`remove ${memberId}`, () => model.remove(endpoint, memberId)),
    moveLeader: (endpoint, targetId) => write(`move leader to ${targetId}`, () => model.moveLeader(endpoint, targetId)),
  };
  return gateway;
}

function translated(error: unknown): never {
  throw error instanceof EtcdRefusal ? new EtcdError(error.message) : error;
}
