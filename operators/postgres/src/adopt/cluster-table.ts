/** What becomes of each field of a Cluster of CloudNativePG 1.27. */
import { below, byHand, changed, dropped, type FieldTable, unneeded } from "./field-table.ts";
import { bootstrapTable, importingBootstrapTable } from "./bootstrap-table.ts";
import { storeTable } from "./store-table.ts";

const scheduling = "a PostgresCluster has no field for where pods run; they spread over zones, then over nodes";
const taints = "use taints and a namespace whose pods an admission policy places, or wait for the field";

const podTable: FieldTable = {
  imagePullPolicy: dropped("an image is pulled when the node lacks it", "use a tag that does not move", [
    "IfNotPresent",
  ]),
  imagePullSecrets: byHand(
    "the pods name no pull secrets",
    "add them to imagePullSecrets of the ServiceAccount default of the namespace",
  ),
  postgresUID: changed("the server runs as user 999, that of the official images", "use an image with it", [999]),
  postgresGID: changed("the server runs as group 999, that of the official images", "use an image with it", [999]),
  priorityClassName: dropped("the pods have the default priority", "make a PriorityClass the default one"),
  schedulerName: dropped("the pods use the default scheduler", undefined, ["default-scheduler"]),
  seccompProfile: unneeded("the pods have RuntimeDefault", undefined, [{ type: "RuntimeDefault" }]),
  serviceAccountTemplate: unneeded("the pods use no token of a ServiceAccount"),
  env: dropped("the server gets no variables from the manifest", "use parameters, or an image that has them"),
  envFrom: dropped("the server gets no variables from the manifest", "use parameters, or an image that has them"),
  "ephemeralVolumesSizeLimit.shm": dropped("the pods have the shared memory that the container runtime gives"),
  "ephemeralVolumesSizeLimit.temporaryData": dropped("the temporary volume has no limit"),
  projectedVolumeTemplate: dropped("the pods mount no volumes of the manifest", "use an image that has the files"),
  ephemeralVolumeSource: dropped("temporary files lie in an emptyDir", "set temp_file_limit in spec.parameters"),
  "inheritedMetadata.labels": dropped("the labels of pods and Services are the operator's"),
  "inheritedMetadata.annotations": dropped("the annotations of pods and Services are the operator's"),
  "affinity.enablePodAntiAffinity": changed("instances always spread over zones and nodes", undefined, [true]),
  "affinity.podAntiAffinityType": changed(
    "instances spread over zones and nodes as far as there are some, and share one when there is no other",
    "compare the number of nodes with spec.instances",
    ["preferred"],
  ),
  "affinity.topologyKey": changed("instances spread by topology.kubernetes.io/zone, then kubernetes.io/hostname"),
  "affinity.nodeSelector": dropped(scheduling, taints),
  "affinity.nodeAffinity": dropped(scheduling, taints),
  "affinity.tolerations": dropped(scheduling, "use nodes without taints"),
  "affinity.additionalPodAffinity": dropped(scheduling, taints),
  "affinity.additionalPodAntiAffinity": dropped(scheduling, taints),
  topologySpreadConstraints: changed("instances spread over zones, then over nodes, as far as there are some"),
  "resources.requests": "carried",
  "resources.limits": "carried",
  "resources.claims": dropped("the server has no resource claims of devices"),
};

const storageTable: FieldTable = {
  "storage.size": "carried",
  "storage.storageClass": "carried",
  "storage.resizeInUseVolumes": changed("volumes in use always grow when the size grows", undefined, [true]),
  "storage.pvcTemplate.resources.requests.storage": "carried",
  "storage.pvcTemplate.storageClassName": "carried",
  "storage.pvcTemplate.accessModes": changed("volumes are ReadWriteOnce", undefined, [["ReadWriteOnce"]]),
  "storage.pvcTemplate.volumeMode": dropped("volumes have a file system", undefined, ["Filesystem"]),
  "storage.pvcTemplate.resources.*": dropped("a volume is asked for by its size alone"),
  "storage.pvcTemplate.*": dropped("a volume is asked for by its size and its class alone"),
  "walStorage.size": "carried",
  "walStorage.pvcTemplate.resources.requests.storage": "carried",
  "walStorage.pvcTemplate.*": dropped("the log lies on the volume of the data"),
  "walStorage.pvcTemplate.resources.*": dropped("the log lies on the volume of the data"),
  "walStorage.*": dropped("the log lies on the volume of the data", "give that volume the faster class"),
  tablespaces: dropped(
    "there are no tablespaces",
    "add their sizes to spec.storage.size, and restore the data with pg_restore --no-tablespaces",
  ),
};

const serverTable: FieldTable = {
  "postgresql.parameters": "carried",
  "postgresql.pg_hba": "carried",
  "postgresql.pg_ident": dropped("there is no user name map", "use roles with the names of the users", [[]]),
  "postgresql.shared_preload_libraries": "carried",
  "postgresql.ldap": dropped("there is no login by LDAP from fields", "write an ldap line in spec.accessRules"),
  "postgresql.promotionTimeout": dropped("a promotion has no time limit"),
  "postgresql.enableAlterSystem": dropped("ALTER SYSTEM is off", "write the settings in spec.parameters", [false]),
  "postgresql.extensions": dropped("no images of extensions are mounted", "build an image that has the extensions"),
  "postgresql.syncReplicaElectionConstraint.enabled": dropped(
    "synchronous replicas are not chosen by labels of nodes; instances spread over zones",
    undefined,
    [false],
  ),
  "postgresql.syncReplicaElectionConstraint.nodeLabelsAntiAffinity": dropped(
    "synchronous replicas are not chosen by labels of nodes; instances spread over zones",
  ),
  "postgresql.synchronous.number": "carried",
  "postgresql.synchronous.dataDurability": "carried",
  "postgresql.synchronous.method": changed("any replicas acknowledge a commit (ANY), not the first ones", undefined, [
    "any",
  ]),
  "postgresql.synchronous.maxStandbyNamesFromCluster": dropped("all replicas of the cluster can be synchronous"),
  "postgresql.synchronous.standbyNamesPre": dropped("only instances of the cluster can be synchronous"),
  "postgresql.synchronous.standbyNamesPost": dropped("only instances of the cluster can be synchronous"),
  minSyncReplicas: "carried",
  maxSyncReplicas: "carried",
  "replicationSlots.highAvailability.enabled": unneeded(
    "replicas follow without slots; the primary keeps 512MB of the log for them (wal_keep_size)",
    "raise wal_keep_size in spec.parameters where replicas may be away for long",
    [false],
  ),
  "replicationSlots.highAvailability.slotPrefix": unneeded("replicas follow without slots"),
  "replicationSlots.highAvailability.synchronizeLogicalDecoding": dropped(
    "a logical slot does not survive a change of the primary",
    "let subscribers begin again after one",
    [false],
  ),
  "replicationSlots.synchronizeReplicas": dropped(
    "a slot of yours does not survive a change of the primary",
    "create it again after one",
    [{ enabled: false }],
  ),
  "replicationSlots.updateInterval": unneeded("no slots are copied to replicas"),
  enableSuperuserAccess: dropped(
    "the superuser gets in over the socket of a pod alone",
    "use kubectl exec INSTANCE -- psql -h /run/setpoint/socket -U postgres",
    [false],
  ),
  superuserSecret: dropped("the superuser has no password", "give an application rights by a PostgresRole"),
};

const operationTable: FieldTable = {
  instances: "carried",
  description: unneeded("a PostgresCluster has no description", "keep it in an annotation"),
  imageName: "carried",
  "imageCatalogRef.name": "carried",
  "imageCatalogRef.kind": "carried",
  "imageCatalogRef.major": "carried",
  "imageCatalogRef.apiGroup": unneeded("catalogues are CloudNativePG's", undefined, ["postgresql.cnpg.io"]),
  primaryUpdateMethod: "carried",
  primaryUpdateStrategy: changed(
    "a restart of the primary waits for nobody",
    "say in spec.maintenanceWindows when restarts may begin, or set spec.dryRun",
    ["unsupervised"],
  ),
  startDelay: unneeded("the instance manager watches the start and reports what it waits for"),
  stopDelay: unneeded("a server has 30 s to stop, and its replicas receive what was committed"),
  smartShutdownTimeout: unneeded("a stop ends the sessions at once"),
  switchoverDelay: unneeded("a switchover waits until the replica has received everything"),
  failoverDelay: "carried",
  livenessProbeTimeout: unneeded("the primary stops by its own lease of 4 s"),
  "probes.liveness.isolationCheck.enabled": unneeded("an isolated primary always stops", undefined, [true]),
  "probes.liveness.isolationCheck.*": unneeded("an isolated primary stops by its lease of 4 s"),
  "probes.liveness.*": unneeded("the probes are the operator's"),
  "probes.readiness.maximumLag": changed("a replica that lags stays ready", "see failover.maximumLag for promotions"),
  "probes.readiness.*": unneeded("the probes are the operator's"),
  "probes.startup.*": unneeded("the probes are the operator's"),
  logLevel: unneeded("the instance manager has one level", undefined, ["info"]),
  enablePDB: changed("there is always a PodDisruptionBudget", undefined, [true]),
  "nodeMaintenanceWindow.inProgress": unneeded("a drain takes one instance at a time", undefined, [false]),
  "nodeMaintenanceWindow.reusePVC": unneeded("a pod always gets its own volume again", undefined, [true]),
  "monitoring.enablePodMonitor": byHand(
    "one PodMonitor is for all clusters, and the metrics have names of their own",
    "apply operators/postgres/monitoring/instances.yaml, and see docs/postgres-monitoring.md",
    [false],
  ),
  "monitoring.podMonitorMetricRelabelings": dropped("the PodMonitor is a manifest of yours", "write them there"),
  "monitoring.podMonitorRelabelings": dropped("the PodMonitor is a manifest of yours", "write them there"),
  "monitoring.disableDefaultQueries": changed("the metrics of an instance are always there", undefined, [false]),
  "monitoring.tls.enabled": changed("metrics are served without TLS", "allow Prometheus alone to reach the port 9187", [
    false,
  ]),
  "monitoring.*": dropped("no queries of yours become metrics", "run postgres_exporter beside it with them"),
  "certificates.*": dropped(
    "the operator has an authority for each cluster, and issues and renews all certificates",
    "give clients ca.crt of the Secret NAME-server-tls",
  ),
  "certificates.serverAltDNSNames": dropped(
    "the certificate has the names of the Services and instances alone",
    "let clients of other names use sslmode=verify-ca",
    [[]],
  ),
  plugins: "carried",
  replica: dropped(
    "there are no replica clusters: what is written is a primary of its own",
    "do not send writes to it before its data are moved",
  ),
  externalClusters: "carried",
};

const managedTable: FieldTable = {
  "managed.roles[].name": "carried",
  "managed.roles[].ensure": "carried",
  "managed.roles[].login": "carried",
  "managed.roles[].inherit": "carried",
  "managed.roles[].createdb": "carried",
  "managed.roles[].createrole": "carried",
  "managed.roles[].connectionLimit": "carried",
  "managed.roles[].validUntil": "carried",
  "managed.roles[].inRoles": "carried",
  "managed.roles[].passwordSecret.name": "carried",
  "managed.roles[].disablePassword": "carried",
  "managed.roles[].comment": dropped("a PostgresRole has no comment", "use COMMENT ON ROLE"),
  "managed.roles[].superuser": dropped(
    "nobody is a superuser but over the socket of a pod",
    "grant the rights that are needed, or a role such as pg_monitor by memberOf",
    [false],
  ),
  "managed.roles[].replication": dropped("no role but the operator's replicates", undefined, [false]),
  "managed.roles[].bypassrls": dropped("a PostgresRole obeys row security", "write a policy for the role", [false]),
  "managed.services.disabledDefaultServices": dropped("the Services -rw, -ro and -r are always there", undefined, [[]]),
  "managed.services.additional[].selectorType": "carried",
  "managed.services.additional[].updateStrategy": unneeded("the Service is a manifest of yours", undefined, ["patch"]),
  "managed.services.additional[].serviceTemplate.metadata.name": "carried",
  "managed.services.additional[].serviceTemplate.metadata.labels": "carried",
  "managed.services.additional[].serviceTemplate.metadata.annotations": "carried",
  "managed.services.additional[].serviceTemplate.spec": "carried",
};

const backupTable: FieldTable = {
  "backup.retentionPolicy": "carried",
  "backup.target": changed("a replica gives the backup when there is one", undefined, ["prefer-standby"]),
  "backup.volumeSnapshot": dropped("backups are base backups in a BackupStore, not snapshots of volumes"),
  ...below("backup.barmanObjectStore", storeTable),
};

/** By path below `spec`. */
export const clusterTable: FieldTable = {
  ...operationTable,
  ...storageTable,
  ...serverTable,
  ...bootstrapTable,
  ...managedTable,
  ...backupTable,
  ...podTable,
};

/** The same, where the Cluster itself is the source of the data. */
export const importingTable: FieldTable = { ...clusterTable, ...importingBootstrapTable };
