/** What is explored of this operator. Only tests import this. */
import { simulatedIssuer } from "@setpoint/data-service";
import type { OutsideModel, Setting } from "setpoint/testing";
import { postgresOperator } from "../postgres-operator.ts";
import { declaredLosses } from "./postgres-laws.ts";
import { PostgresModel, simulatedImage } from "./postgres-model.ts";
import { PostgresWriter } from "./postgres-writer.ts";
import { simulatedGateway } from "./simulated-gateway.ts";

const writeEveryMs = 250;

/** The operator with a model of PostgreSQL, both new, and a client that writes all the time. */
export function postgresSetting(): Setting {
  const postgres = new PostgresModel();
  const client: OutsideModel = {
    attach: (host) => void new PostgresWriter(postgres, host, writeEveryMs),
    data: () => ({}),
  };
  return {
    models: [postgres, client],
    operators: [(process) => postgresOperator(simulatedGateway(postgres, process), simulatedImage, simulatedIssuer)],
    oracles: [declaredLosses(postgres)],
  };
}
