/** A test engine; see the README beside this package. */
export { AppendLog } from "./append-log.ts";
export { appendLogAgent } from "./append-log-agent.ts";
export { type ServerProgram } from "./append-log-engine.ts";
export { appendLogOperator } from "./append-log-operator.ts";
export { httpLogGateway, type LogGateway } from "./log-gateway.ts";
