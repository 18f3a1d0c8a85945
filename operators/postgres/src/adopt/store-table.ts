/** What becomes of the settings of Barman about an object store. */
import { below, byHand, dropped, type FieldTable, unneeded } from "./field-table.ts";

const keys = "a BackupStore needs a Secret with keys";
const plain = "backups and the log are stored without compression";
const encryption = "the store is not asked to encrypt";
const encryptionTodo = "set spec.encryption of the BackupStore, or the default encryption of the bucket";
const options = "no program of Barman runs";

const keyReference: FieldTable = { name: "carried", key: "carried" };

/** By path below `barmanObjectStore`. */
export const storeTable: FieldTable = {
  destinationPath: "carried",
  endpointURL: "carried",
  endpointCA: dropped("a store's certificate must be of an authority that the image of the operator trusts"),
  serverName: unneeded("paths in the store have the kind, namespace, name and UID of the cluster"),
  ...below("s3Credentials.accessKeyId", keyReference),
  ...below("s3Credentials.secretAccessKey", keyReference),
  ...below("s3Credentials.region", keyReference),
  "s3Credentials.sessionToken": dropped("a BackupStore takes no session tokens", "use keys that last"),
  "s3Credentials.inheritFromIAMRole": byHand(keys, "create keys for the bucket", [false]),
  ...below("azureCredentials.storageAccount", keyReference),
  ...below("azureCredentials.storageKey", keyReference),
  "azureCredentials.connectionString": byHand(keys, "write its AccountName and AccountKey in the Secret"),
  "azureCredentials.storageSasToken": byHand(keys, "use the key of the storage account"),
  "azureCredentials.inheritFromAzureAD": byHand(keys, "use the key of the storage account", [false]),
  ...below("googleCredentials.applicationCredentials", keyReference),
  "googleCredentials.gkeEnvironment": byHand(keys, "create a key of a service account", [false]),
  "data.compression": dropped(plain),
  "data.encryption": byHand(encryption, encryptionTodo),
  "data.immediateCheckpoint": unneeded("a backup always begins with a checkpoint at once"),
  "data.jobs": unneeded("a backup is one stream"),
  "data.additionalCommandArgs": dropped(options),
  "wal.compression": dropped(plain, "set wal_compression in spec.parameters"),
  "wal.encryption": byHand(encryption, encryptionTodo),
  "wal.maxParallel": unneeded("the archiver stores segments as they come"),
  "wal.archiveAdditionalCommandArgs": dropped(options),
  "wal.restoreAdditionalCommandArgs": dropped(options),
  tags: dropped("objects in the store have no tags"),
  historyTags: dropped("objects in the store have no tags"),
};
