/** The client on Node: HTTP, kubeconfig, exec. */
export type { ClientCredential, HttpConnection, Impersonation } from "./connection-options.ts";
export type { HttpTransport, HttpTransportOptions } from "./http-transport.ts";
export { httpTransport } from "./http-transport.ts";
export { watchLineBytesMax } from "./watch-frames.ts";
