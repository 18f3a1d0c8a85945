/** The clientConfig of webhook configurations. */
export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace: string;
    readonly name: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** PEM in base64: the authorities that may have signed the webhook's certificate. */
  readonly caBundle?: string;
}
