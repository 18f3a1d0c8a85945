/** Lets the operator speak to the model of PostgreSQL in a simulated world. Only tests import this. */
import type { OperatorProcess } from "setpoint/testing";
import type { InstanceGateway } from "../instance/instance-gateway.ts";
import type { PostgresModel } from "./postgres-model.ts";

/** Calls go out through the operator's process, so that faults strike instructions like any write. */
export function simulatedGateway(model: PostgresModel, process: OperatorProcess): InstanceGateway {
  const unknown = async (): Promise<never> => {
    throw new Error("the model of PostgreSQL has no users");
  };
  return {
    // The model has no handshakes; that certificates are right is the subject of other tests.
    withCertificates: () => simulatedGateway(model, process),
    report: (address, lease) =>
      process.call("postgres report", "look", () => model.ask(address, ({ manager }) => manager.report(lease))),
    instruct: (address, desired) =>
      process.call("postgres instruct", "write", () => model.ask(address, ({ manager }) => manager.follow(desired))),
    restart: (address, startedAt) =>
      process.call("postgres restart", "write", () => model.ask(address, ({ manager }) => manager.restart(startedAt))),
    ensureUser: unknown,
    proveLogin: unknown,
    dropUser: unknown,
  };
}
