/**
 * Keeps the certificates of the webhooks good: makes them, tells API servers whom to trust, replaces them in
 * time.
 */
import type { Host } from "@setpoint/host";
import type { KeyPair } from "@setpoint/host/certificates";
import {
  type CertificateState,
  certificateTimes,
  type CertificateTimes,
  nextLookAtMs,
  planCertificates,
  planRotation,
  trustBundle,
} from "./certificate-plan.ts";
import type { CertificateStore } from "./certificate-store.ts";

export interface WebhookCertificatesOptions {
  readonly host: Host;
  readonly store: CertificateStore;
  /** The names by which API servers call. */
  readonly hosts: readonly string[];
  /** Writes the authorities to trust, PEM, into the configurations. */
  publish(this: void, bundle: string): Promise<void>;
  /** Called with every certificate that is to be served from now on. */
  onServing(this: void, pair: KeyPair): void;
  readonly times?: CertificateTimes;
}

/** After something went wrong. */
const retryMs = 10_000;
/** Nothing here is so urgent that it has to be looked at more often. */
const lookMsMin = 10;
/** Timers cannot be set further ahead. */
const lookMsMax = 86_400_000;

/**
 * Guarantees: what is served was signed by an authority that has been published for `overlapMs`, except at
 * the very first start; nothing stops being trusted before `overlapMs` after its replacement. Replicas that
 * share a store serve the same certificate.
 */
export class WebhookCertificates implements AsyncDisposable {
  readonly #options: WebhookCertificatesOptions;
  readonly #times: CertificateTimes;
  readonly #stop = new AbortController();
  readonly #following: Promise<void>;
  #state: CertificateState | undefined;
  /** The certificate that is served. */
  #served: string | undefined;
  #timer: { cancel(): void } | undefined;
  #looking: Promise<void> = Promise.resolve();

  private constructor(options: WebhookCertificatesOptions) {
    this.#options = options;
    this.#times = options.times ?? certificateTimes;
    this.#following = options.store
      .follow((state) => this.#follow(state), this.#stop.signal)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) options.host.log.error("Cannot follow the certificates", { error });
      });
  }

  /** Resolves when there is a certificate and the API servers have its trust bundle. */
  static async start(options: WebhookCertificatesOptions): Promise<WebhookCertificates> {
    const certificates = new WebhookCertificates(options);
    await certificates.#look();
    // Configurations may have been applied again since the last start, without their bundle.
    await certificates.#publish();
    return certificates;
  }

  /** Begins to replace the authority now; the rest happens after the overlaps. */
  async rotate(): Promise<void> {
    const { host, store } = this.#options;
    this.#adopt(await store.update((state) => planRotation(this.#plan(state), host, this.#times)));
    // Should it fail from here on, it goes on by itself.
    this.#lookInTime();
    await this.#look();
  }

  /** When something will be replaced next, in the clock's time. */
  get nextChangeAtMs(): number {
    return this.#state === undefined ? 0 : nextLookAtMs(this.#state, this.#times);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the webhooks stop"));
    this.#timer?.cancel();
    await Promise.all([this.#following, this.#looking]);
  }

  #plan(state: CertificateState | undefined): CertificateState {
    const { host, hosts } = this.#options;
    return planCertificates(state, hosts, host, this.#times);
  }

  /** Brings the store up to date, publishes what has not been published, and looks again when it is time. */
  async #look(): Promise<void> {
    this.#adopt(await this.#options.store.update((state) => this.#plan(state)));
    if (this.#state?.publishedAtMs === undefined) await this.#publish();
    this.#lookInTime();
  }

  async #publish(): Promise<void> {
    const { publish, store, host } = this.#options;
    const state = this.#state;
    if (state === undefined) return;
    const bundle = trustBundle(state);
    await publish(bundle);
    this.#serve(state);
    const publishedAtMs = host.clock.now();
    this.#adopt(
      await store.update((stored) =>
        stored !== undefined && stored.publishedAtMs === undefined && trustBundle(stored) === bundle
          ? { ...stored, publishedAtMs }
          : (stored ?? state),
      ),
    );
  }

  /**
   * What has not been published is about to be, by this replica or another one; should that fail, it is soon
   * tried again.
   */
  #lookInTime(): void {
    if (this.#state?.publishedAtMs === undefined) return this.#lookAgain(retryMs);
    this.#lookAgain(Math.max(lookMsMin, this.nextChangeAtMs - this.#options.host.clock.now()));
  }

  #lookAgain(inMs: number): void {
    this.#timer?.cancel();
    if (this.#stop.signal.aborted) return;
    const { clock, log } = this.#options.host;
    const look = (): void => {
      this.#looking = this.#look().catch((error: unknown) => {
        log.error("Cannot renew the certificates of the webhooks", { error });
        this.#lookAgain(retryMs);
      });
    };
    this.#timer = clock.setTimer(look, Math.min(inMs, lookMsMax), { unref: true });
  }

  /** Another replica has begun something; should it die before it ends that, this one will. */
  #follow(state: CertificateState): void {
    this.#adopt(state);
    this.#lookInTime();
  }

  /**
   * Calls fail if API servers do not know a certificate's authority yet, so only the very first one is served
   * at once.
   */
  #adopt(state: CertificateState): void {
    this.#state = state;
    if (this.#served === undefined || state.publishedAtMs !== undefined) this.#serve(state);
  }

  #serve({ serving }: CertificateState): void {
    if (serving.certificate === this.#served) return;
    this.#served = serving.certificate;
    this.#options.onServing(serving);
  }
}
