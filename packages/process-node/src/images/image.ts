/** What an image is to this node: a name that manifests use, and the way to a root file system. */

/** Packages of one Debian suite with everything they depend on. */
export interface DebianClosure {
  readonly suite: string;
  readonly packages: readonly string[];
}

/** A file or folder of the host that is copied into the image. */
export interface ImageFile {
  readonly from: string;
  readonly to: string;
}

/** How an image starts. */
export interface ImageConfig {
  readonly env?: Readonly<Record<string, string>>;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly workingDirectory?: string;
  /** `USER` or `USER:GROUP`, by name or number; default: root. */
  readonly user?: string;
  /** What ends its program, `SIGQUIT`; default: SIGTERM. */
  readonly stopSignal?: string;
}

/** An image by name: a closure, what is laid over it, and how it starts. */
export interface ImageSource extends ImageConfig {
  /** Absent: the image has its files alone. */
  readonly closure?: DebianClosure;
  /** Laid over the closure; absent for a plain closure. */
  readonly files?: readonly ImageFile[];
  /** Symlinks `path → target`, where upstream's image has its programs elsewhere than Debian. */
  readonly links?: Readonly<Record<string, string>>;
  /** Users that upstream's image has and no package brings along, by name: the number of user and group. */
  readonly users?: Readonly<Record<string, number>>;
  /** The upstream version that the package must have, read from its changelog. */
  readonly version?: { readonly package: string; readonly upstream: string };
}

/** An image that this host describes only when a pod first needs it, because that takes a build. */
export interface UndescribedImage {
  describe(): Promise<ImageSource>;
}

/** An image that lies ready on this host. */
export interface LocalImage {
  /** As in container statuses: `process://sha256:…`, and `REPOSITORY@sha256:…` for what was pulled. */
  readonly id: string;
  readonly name: string;
  readonly rootDirectory: string;
  readonly config: ImageConfig;
  /** Of its unpacked layers; absent for packages. */
  readonly bytes?: number;
}
