/** Names of images as manifests, archives and registries write them. */

/** A name in its parts; `tag` is "latest" when the name has neither tag nor digest. */
export interface ImageReference {
  readonly repository: string;
  readonly tag?: string;
  /** `sha256:…` */
  readonly digest?: string;
}

const pattern = /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*(?::\w[\w.-]{0,127})?$/;
const nameLengthMax = 255;

/** Splits a name and completes its repository: `busybox` is `docker.io/library/busybox`. */
export function parseImageReference(image: string): ImageReference {
  const [name = "", digest] = image.split("@");
  const colon = name.lastIndexOf(":");
  const hasTag = colon > name.lastIndexOf("/");
  const repository = withRegistry(hasTag ? name.slice(0, colon) : name);
  const tag = hasTag ? name.slice(colon + 1) : digest === undefined ? "latest" : undefined;
  return { repository, ...(tag === undefined ? {} : { tag }), ...(digest === undefined ? {} : { digest }) };
}

/**
 * The one spelling of all names of an image: `busybox` and `docker.io/library/busybox:latest` are the same.
 */
export function canonicalImageName(image: string): string {
  const { repository, tag } = parseImageReference(image);
  return tag === undefined ? repository : `${repository}:${tag}`;
}

/** Whether the text is the name of an image with an optional tag, and no digest. */
export function isImageName(text: string): boolean {
  return text.length <= nameLengthMax && pattern.test(text);
}

/** The first part is a registry when it looks like a host, as Docker and containerd decide it. */
function withRegistry(repository: string): string {
  const [first = "", ...rest] = repository.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  if (isHost) return repository;
  return rest.length === 0 ? `docker.io/library/${repository}` : `docker.io/${repository}`;
}
