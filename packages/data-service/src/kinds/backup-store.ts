/** The kind BackupStore: where backups are kept. */
import { age, defineKind, field, type ObjectOf } from "setpoint";
import { exactlyOneOf } from "setpoint/kinds";
import { z } from "zod";
import { dataLabels } from "./labels.ts";

/** Users of this kind may have no right to what a field names, and the operator has. */
const needsLabel = `It needs the label ${dataLabels.backupStore}=true.`;
const secretName = z.string().min(1).max(253);
const prefix = z
  .string()
  .regex(/^([A-Za-z0-9._-]+\/)*[A-Za-z0-9._-]*$/)
  .max(200)
  .default("")
  .describe("A path inside the store below which everything is kept.");

const claim = z
  .object({ claimName: z.string().min(1).max(253).describe("The name of the claim."), prefix })
  .describe(`A PersistentVolumeClaim in the same namespace. Transfer pods mount it. ${needsLabel}`);

const s3 = z
  .object({
    bucket: z.string().min(1).max(63).describe("The name of the bucket."),
    prefix,
    endpoint: z.string().max(500).optional().describe("The URL of a server that speaks S3; AWS when absent."),
    region: z.string().max(100).default("us-east-1").describe("The region of the bucket."),
    credentialsSecret: secretName.describe(`A Secret with the keys access-key-id and secret-access-key. ${needsLabel}`),
  })
  .describe("A bucket of Amazon S3 or of a server that speaks its protocol.");

const gcs = z
  .object({
    bucket: z.string().min(1).max(222).describe("The name of the bucket."),
    prefix,
    endpoint: z.string().max(500).optional().describe("The URL of the service; Google's own when absent."),
    credentialsSecret: secretName.describe(`A Secret with the key service-account.json. ${needsLabel}`),
  })
  .describe("A bucket of Google Cloud Storage.");

const azure = z
  .object({
    container: z.string().min(1).max(63).describe("The name of the container."),
    prefix,
    endpoint: z.string().max(500).describe("The URL of the storage account."),
    credentialsSecret: secretName.describe(`A Secret with the keys account-name and account-key. ${needsLabel}`),
  })
  .describe("A container of Azure Blob Storage.");

const encryption = z
  .object({
    keySecret: secretName.describe(
      `A Secret whose keys are names of encryption keys and whose values are 32 random bytes each. ${needsLabel}`,
    ),
    activeKey: z
      .string()
      .min(1)
      .max(63)
      .describe("The name of the key that new backups are encrypted with. Older backups name their own key."),
  })
  .describe("Encryption of backups at rest. Without it they are stored as they are.");

/**
 * The kind BackupStore, `data.setpoint.dev/v1`: exactly one place, and the key that backups are encrypted
 * with.
 */
export const BackupStore = defineKind({
  group: "data.setpoint.dev",
  version: "v1",
  kind: "BackupStore",
  categories: ["data"],
  spec: field(
    z.object({
      claim: claim.optional(),
      s3: s3.optional(),
      gcs: gcs.optional(),
      azure: azure.optional(),
      encryption: encryption.optional(),
    }),
    { rules: [exactlyOneOf("claim", "s3", "gcs", "azure")] },
  ),
  printerColumns: { Bucket: "spec.s3.bucket", Claim: "spec.claim.claimName", Age: age() },
});
export type BackupStore = ObjectOf<typeof BackupStore>;
