/** The operator as a program: `FACTORY_URL=http://127.0.0.1:8090 setpoint run operator.ts`. */
import { defineOperator, type Operator } from "setpoint";
import { chocolateWebhooks } from "./chocolate.ts";
import { chocolates } from "./chocolates.ts";
import { connectFactory } from "./factory-http.ts";
import type { FactoryApi } from "./factory.ts";
import { qualityReports } from "./quality.ts";

export const chocolateOperator = (factory: FactoryApi): Operator =>
  defineOperator({
    name: "chocolate-factory",
    controllers: [chocolates(factory), qualityReports],
    webhooks: [chocolateWebhooks],
  });

export default chocolateOperator(connectFactory(process.env["FACTORY_URL"] ?? "http://127.0.0.1:8090"));
