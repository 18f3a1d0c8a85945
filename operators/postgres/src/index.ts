/** Operates PostgreSQL clusters; see the README beside this package. */
export { PostgresCluster } from "./kind/postgres-cluster.ts";
export { PostgresDatabase } from "./databases/postgres-database.ts";
export { PostgresPooler } from "./poolers/postgres-pooler.ts";
export { PostgresRole } from "./roles/postgres-role.ts";
export { postgresOperator } from "./postgres-operator.ts";
export type { InstanceGateway, ManagerCertificates } from "./instance/instance-gateway.ts";
export type { DesiredInstance, InstanceReport, LeaseRequest } from "./instance/instance-protocol.ts";
export { httpsGateway } from "./instance/https-gateway.ts";
