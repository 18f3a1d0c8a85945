/** Where a store is, without its credentials. */
export type StorePlace =
  | { readonly type: "folder"; readonly folder: string }
  | { readonly type: "s3"; readonly bucket: string; readonly endpoint?: string | undefined; readonly region: string }
  | { readonly type: "gcs"; readonly bucket: string; readonly endpoint?: string | undefined }
  | { readonly type: "azure"; readonly container: string; readonly endpoint: string };

/** The store as messages name it. */
export function placeName(place: StorePlace): string {
  switch (place.type) {
    case "folder":
      return `folder ${place.folder}`;
    case "s3":
      return `S3 bucket "${place.bucket}"`;
    case "gcs":
      return `GCS bucket "${place.bucket}"`;
    case "azure":
      return `Azure container "${place.container}"`;
  }
}
