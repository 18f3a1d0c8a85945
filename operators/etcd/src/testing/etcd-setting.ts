/** What is explored of this operator. Only tests import this. */
import { simulatedIssuer } from "@setpoint/data-service";
import { EtcdModel, type Setting } from "setpoint/testing";
import { etcdOperator } from "../etcd-operator.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

/** The operator with a model of etcd, both new. */
export function etcdSetting(): Setting {
  const etcd = new EtcdModel();
  return {
    models: [etcd],
    operators: [(process) => etcdOperator(simulatedGateway(etcd, process), {}, undefined, simulatedIssuer)],
  };
}
