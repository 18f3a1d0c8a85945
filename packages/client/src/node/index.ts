/** The client on Node: HTTP, kubeconfig, exec. */
export type { ClientCredential, HttpConnection, Impersonation } from "./connection-options.ts";
export type { HttpTransport, HttpTransportOptions } from "./http-transport.ts";
export { httpTransport } from "./http-transport.ts";
export { watchLineBytesMax } from "./watch-frames.ts";

// where to connect and as whom
export type { ConnectOptions, ResolvedConnection } from "./connect.ts";
export { connect, resolveConnection } from "./connect.ts";
export type { ExecCredentialOptions } from "./exec-credential.ts";
export { execCredential } from "./exec-credential.ts";
export type {
  ExecCredentialSpec,
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigContent,
  KubeconfigContext,
  KubeconfigUser,
  LoadKubeconfigOptions,
  SelectedContext,
} from "./kubeconfig.ts";
export { loadKubeconfig, mergeKubeconfigs, parseKubeconfig, selectContext, writeKubeconfig } from "./kubeconfig.ts";

export { proxyOfEnvironment } from "./proxy.ts";

// what runs in pods
export type { AttachOptions, ExecOptions, ExecResult } from "./exec-in-pod.ts";
export { attachToPod, execInPod } from "./exec-in-pod.ts";
export type { ForwardConnectionsOptions, ForwardPortOptions, PodPortOptions, PortForward } from "./forward-port.ts";
export { connectToPod, forwardConnections, forwardPort } from "./forward-port.ts";
