import { isSetpointError, type GroupVersionKind, type KubeObject } from "@setpoint/apimachinery";
import type { Clock } from "@setpoint/host";
import type { Client } from "./client.ts";
import { errUnknownResource } from "./errors.ts";
import type { DiscoveredResource, RestMapper } from "./rest-mapper.ts";

/** How often a REST mapper may repeat discovery. */
export interface RestMappingOptions {
  readonly clock: Clock;
  /** A missing kind triggers a new discovery at most this often; default 10 s. */
  readonly rediscoverMsMin?: number;
}

const rediscoverMsMinDefault = 10_000;

/**
 * A cached `RestMapper` that is discovered again when a kind is missing, so a kind that was installed a
 * moment ago is found. A kind that was removed stays until the next miss; its requests then answer 404.
 */
export class RestMapping {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #rediscoverMsMin: number;
  #mapper: Promise<RestMapper> | undefined;
  #discoveredMs = 0;

  constructor(client: Client, options: RestMappingOptions) {
    this.#client = client;
    this.#clock = options.clock;
    this.#rediscoverMsMin = options.rediscoverMsMin ?? rediscoverMsMinDefault;
  }

  /** The resource of a kind; undefined when the server does not serve it. */
  ofKind(gvk: GroupVersionKind): Promise<DiscoveredResource | undefined> {
    return this.#lookup((mapper) => mapper.ofKind(gvk));
  }

  /** The resource of an object. Errors: `ERR_UNKNOWN_RESOURCE`. */
  async ofObject(object: Pick<KubeObject, "apiVersion" | "kind">): Promise<DiscoveredResource> {
    const found = await this.#lookup((mapper) => known(() => mapper.ofObject(object)));
    return found ?? (await this.#mapperNow()).ofObject(object);
  }

  /** By any of the names that kubectl accepts. Errors: `ERR_UNKNOWN_RESOURCE`. */
  async find(name: string): Promise<DiscoveredResource> {
    const found = await this.#lookup((mapper) => known(() => mapper.find(name)));
    return found ?? (await this.#mapperNow()).find(name);
  }

  /** The next lookup discovers again. */
  invalidate(): void {
    this.#mapper = undefined;
  }

  async #lookup(find: (mapper: RestMapper) => DiscoveredResource | undefined): Promise<DiscoveredResource | undefined> {
    const isKept = this.#mapper !== undefined;
    const found = find(await this.#mapperNow());
    const isDue = this.#clock.monotonic() - this.#discoveredMs >= this.#rediscoverMsMin;
    if (found !== undefined || !isKept || !isDue) return found;
    this.invalidate();
    return find(await this.#mapperNow());
  }

  #mapperNow(): Promise<RestMapper> {
    if (this.#mapper !== undefined) return this.#mapper;
    const asked = this.#client.discover();
    this.#mapper = asked;
    this.#discoveredMs = this.#clock.monotonic();
    // A failed discovery must not be cached.
    asked.catch(() => {
      if (this.#mapper === asked) this.#mapper = undefined;
    });
    return asked;
  }
}

function known(find: () => DiscoveredResource): DiscoveredResource | undefined {
  try {
    return find();
  } catch (error) {
    if (isSetpointError(error, errUnknownResource)) return undefined;
    throw error;
  }
}
