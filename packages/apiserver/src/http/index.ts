/** HTTPS in front of the API server: listening, certificates, and the way to the node agents. */
export type { RequestHandler } from "./request-handler.ts";
export type { ListeningServer, ServeOptions, UpgradeHandler, UpgradeRequest } from "./serve.ts";
export { serve } from "./serve.ts";

// limits
export { requestBytesMax } from "./read-body.ts";
export { gzipBytesMin, listChunkItems, slowClientMsMax, watchBufferBytesMax } from "./write-response.ts";

// certificates
export type {
  CertificateAuthorityOptions,
  ClientCertificateRequest,
  KeyPair,
  ServerCertificateRequest,
} from "../auth/certificate-authority.ts";
export { CertificateAuthority, createCertificateAuthority } from "../auth/certificate-authority.ts";
