/** Operates etcd clusters; see the README beside this package. */
export { EtcdCluster } from "./kind/etcd-cluster.ts";
export { etcdOperator } from "./etcd-operator.ts";
export type { EtcdGateway, ListedMember, MemberList, MemberStatus } from "./gateway/etcd-gateway.ts";
export { EtcdMirror } from "./mirror/etcd-mirror.ts";
export { EtcdError } from "./gateway/etcd-gateway.ts";
export { httpGateway } from "./gateway/http-gateway.ts";
