// Generated from the facts by `npm run generate`. Do not edit.
import type * as ApiResource from '../api/resource.ts'
import type * as MetaV1 from '../meta/v1.ts'
import type * as PkgRuntime from '../pkg/runtime.ts'
import type * as UtilIntstr from '../util/intstr.ts'

export interface AWSElasticBlockStoreVolumeSource {
  volumeID?: string
  fsType?: string
  partition?: number
  readOnly?: boolean
}
export interface Affinity {
  nodeAffinity?: NodeAffinity
  podAffinity?: PodAffinity
  podAntiAffinity?: PodAntiAffinity
}
export interface AppArmorProfile {
  type?: string
  localhostProfile?: string
}
export interface AttachedVolume {
  name?: string
  devicePath?: string
}
export interface AvoidPods {
  preferAvoidPods?: PreferAvoidPodsEntry[]
}
export interface AzureDiskVolumeSource {
  diskName?: string
  diskURI?: string
  cachingMode?: string
  fsType?: string
  readOnly?: boolean
  kind?: string
}
export interface AzureFilePersistentVolumeSource {
  secretName?: string
  shareName?: string
  readOnly?: boolean
  secretNamespace?: string
}
export interface AzureFileVolumeSource {
  secretName?: string
  shareName?: string
  readOnly?: boolean
}
export interface Binding {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  target?: ObjectReference
}
export interface CSIPersistentVolumeSource {
  driver?: string
  volumeHandle?: string
  readOnly?: boolean
  fsType?: string
  volumeAttributes?: Record<string, string>
  controllerPublishSecretRef?: SecretReference
  nodeStageSecretRef?: SecretReference
  nodePublishSecretRef?: SecretReference
  controllerExpandSecretRef?: SecretReference
  nodeExpandSecretRef?: SecretReference
}
export interface CSIVolumeSource {
  driver?: string
  readOnly?: boolean
  fsType?: string
  volumeAttributes?: Record<string, string>
  nodePublishSecretRef?: LocalObjectReference
}
export interface Capabilities {
  add?: string[]
  drop?: string[]
}
export interface CephFSPersistentVolumeSource {
  monitors?: string[]
  path?: string
  user?: string
  secretFile?: string
  secretRef?: SecretReference
  readOnly?: boolean
}
export interface CephFSVolumeSource {
  monitors?: string[]
  path?: string
  user?: string
  secretFile?: string
  secretRef?: LocalObjectReference
  readOnly?: boolean
}
export interface CinderPersistentVolumeSource {
  volumeID?: string
  fsType?: string
  readOnly?: boolean
  secretRef?: SecretReference
}
export interface CinderVolumeSource {
  volumeID?: string
  fsType?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
}
export interface ClientIPConfig {
  timeoutSeconds?: number
}
export interface ClusterTrustBundleProjection {
  name?: string
  signerName?: string
  labelSelector?: MetaV1.LabelSelector
  optional?: boolean
  path?: string
}
export interface ComponentCondition {
  type?: string
  status?: string
  message?: string
  error?: string
}
export interface ComponentStatus {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  conditions?: ComponentCondition[]
}
export interface ComponentStatusList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ComponentStatus[]
}
export interface ConfigMap {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  immutable?: boolean
  data?: Record<string, string>
  binaryData?: Record<string, string>
}
export interface ConfigMapEnvSource {
  name?: string
  optional?: boolean
}
export interface ConfigMapKeySelector {
  name?: string
  key?: string
  optional?: boolean
}
export interface ConfigMapList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ConfigMap[]
}
export interface ConfigMapNodeConfigSource {
  namespace?: string
  name?: string
  uid?: string
  resourceVersion?: string
  kubeletConfigKey?: string
}
export interface ConfigMapProjection {
  name?: string
  items?: KeyToPath[]
  optional?: boolean
}
export interface ConfigMapVolumeSource {
  name?: string
  items?: KeyToPath[]
  defaultMode?: number
  optional?: boolean
}
export interface Container {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  workingDir?: string
  ports?: ContainerPort[]
  envFrom?: EnvFromSource[]
  env?: EnvVar[]
  resources?: ResourceRequirements
  resizePolicy?: ContainerResizePolicy[]
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  volumeMounts?: VolumeMount[]
  volumeDevices?: VolumeDevice[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: Lifecycle
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  imagePullPolicy?: string
  securityContext?: SecurityContext
  stdin?: boolean
  stdinOnce?: boolean
  tty?: boolean
}
export interface ContainerExtendedResourceRequest {
  containerName?: string
  resourceName?: string
  requestName?: string
}
export interface ContainerImage {
  names?: string[]
  sizeBytes?: number | bigint
}
export interface ContainerPort {
  name?: string
  hostPort?: number
  containerPort?: number
  protocol?: string
  hostIP?: string
}
export interface ContainerResizePolicy {
  resourceName?: string
  restartPolicy?: string
}
export interface ContainerRestartRule {
  action?: string
  exitCodes?: ContainerRestartRuleOnExitCodes
}
export interface ContainerRestartRuleOnExitCodes {
  operator?: string
  values?: number[]
}
export interface ContainerState {
  waiting?: ContainerStateWaiting
  running?: ContainerStateRunning
  terminated?: ContainerStateTerminated
}
export interface ContainerStateRunning {
  startedAt?: MetaV1.Time
}
export interface ContainerStateTerminated {
  exitCode?: number
  signal?: number
  reason?: string
  message?: string
  startedAt?: MetaV1.Time
  finishedAt?: MetaV1.Time
  containerID?: string
}
export interface ContainerStateWaiting {
  reason?: string
  message?: string
}
export interface ContainerStatus {
  name?: string
  state?: ContainerState
  lastState?: ContainerState
  ready?: boolean
  restartCount?: number
  image?: string
  imageID?: string
  containerID?: string
  started?: boolean
  allocatedResources?: Record<string, ApiResource.Quantity>
  resources?: ResourceRequirements
  volumeMounts?: VolumeMountStatus[]
  user?: ContainerUser
  allocatedResourcesStatus?: ResourceStatus[]
  stopSignal?: string
}
export interface ContainerUser {
  linux?: LinuxContainerUser
}
export interface DaemonEndpoint {
  Port?: number
}
export interface DownwardAPIProjection {
  items?: DownwardAPIVolumeFile[]
}
export interface DownwardAPIVolumeFile {
  path?: string
  fieldRef?: ObjectFieldSelector
  resourceFieldRef?: ResourceFieldSelector
  mode?: number
}
export interface DownwardAPIVolumeSource {
  items?: DownwardAPIVolumeFile[]
  defaultMode?: number
}
export interface EmptyDirVolumeSource {
  medium?: string
  sizeLimit?: ApiResource.Quantity
}
export interface EndpointAddress {
  ip?: string
  hostname?: string
  nodeName?: string
  targetRef?: ObjectReference
}
export interface EndpointPort {
  name?: string
  port?: number
  protocol?: string
  appProtocol?: string
}
export interface EndpointSubset {
  addresses?: EndpointAddress[]
  notReadyAddresses?: EndpointAddress[]
  ports?: EndpointPort[]
}
export interface Endpoints {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  subsets?: EndpointSubset[]
}
export interface EndpointsList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Endpoints[]
}
export interface EnvFromSource {
  prefix?: string
  configMapRef?: ConfigMapEnvSource
  secretRef?: SecretEnvSource
}
export interface EnvVar {
  name?: string
  value?: string
  valueFrom?: EnvVarSource
}
export interface EnvVarSource {
  fieldRef?: ObjectFieldSelector
  resourceFieldRef?: ResourceFieldSelector
  configMapKeyRef?: ConfigMapKeySelector
  secretKeyRef?: SecretKeySelector
  fileKeyRef?: FileKeySelector
}
export interface EphemeralContainer {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  workingDir?: string
  ports?: ContainerPort[]
  envFrom?: EnvFromSource[]
  env?: EnvVar[]
  resources?: ResourceRequirements
  resizePolicy?: ContainerResizePolicy[]
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  volumeMounts?: VolumeMount[]
  volumeDevices?: VolumeDevice[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: Lifecycle
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  imagePullPolicy?: string
  securityContext?: SecurityContext
  stdin?: boolean
  stdinOnce?: boolean
  tty?: boolean
  targetContainerName?: string
}
export interface EphemeralContainerCommon {
  name?: string
  image?: string
  command?: string[]
  args?: string[]
  workingDir?: string
  ports?: ContainerPort[]
  envFrom?: EnvFromSource[]
  env?: EnvVar[]
  resources?: ResourceRequirements
  resizePolicy?: ContainerResizePolicy[]
  restartPolicy?: string
  restartPolicyRules?: ContainerRestartRule[]
  volumeMounts?: VolumeMount[]
  volumeDevices?: VolumeDevice[]
  livenessProbe?: Probe
  readinessProbe?: Probe
  startupProbe?: Probe
  lifecycle?: Lifecycle
  terminationMessagePath?: string
  terminationMessagePolicy?: string
  imagePullPolicy?: string
  securityContext?: SecurityContext
  stdin?: boolean
  stdinOnce?: boolean
  tty?: boolean
}
export interface EphemeralVolumeSource {
  volumeClaimTemplate?: PersistentVolumeClaimTemplate
}
export interface Event {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  involvedObject?: ObjectReference
  reason?: string
  message?: string
  source?: EventSource
  firstTimestamp?: MetaV1.Time
  lastTimestamp?: MetaV1.Time
  count?: number
  type?: string
  eventTime?: MetaV1.MicroTime
  series?: EventSeries
  action?: string
  related?: ObjectReference
  reportingComponent?: string
  reportingInstance?: string
}
export interface EventList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Event[]
}
export interface EventSeries {
  count?: number
  lastObservedTime?: MetaV1.MicroTime
}
export interface EventSource {
  component?: string
  host?: string
}
export interface ExecAction {
  command?: string[]
}
export interface FCVolumeSource {
  targetWWNs?: string[]
  lun?: number
  fsType?: string
  readOnly?: boolean
  wwids?: string[]
}
export interface FileKeySelector {
  volumeName?: string
  path?: string
  key?: string
  optional?: boolean
}
export interface FlexPersistentVolumeSource {
  driver?: string
  fsType?: string
  secretRef?: SecretReference
  readOnly?: boolean
  options?: Record<string, string>
}
export interface FlexVolumeSource {
  driver?: string
  fsType?: string
  secretRef?: LocalObjectReference
  readOnly?: boolean
  options?: Record<string, string>
}
export interface FlockerVolumeSource {
  datasetName?: string
  datasetUUID?: string
}
export interface GCEPersistentDiskVolumeSource {
  pdName?: string
  fsType?: string
  partition?: number
  readOnly?: boolean
}
export interface GRPCAction {
  port?: number
  service?: string
}
export interface GitRepoVolumeSource {
  repository?: string
  revision?: string
  directory?: string
}
export interface GlusterfsPersistentVolumeSource {
  endpoints?: string
  path?: string
  readOnly?: boolean
  endpointsNamespace?: string
}
export interface GlusterfsVolumeSource {
  endpoints?: string
  path?: string
  readOnly?: boolean
}
export interface HTTPGetAction {
  path?: string
  port?: UtilIntstr.IntOrString
  host?: string
  scheme?: string
  httpHeaders?: HTTPHeader[]
}
export interface HTTPHeader {
  name?: string
  value?: string
}
export interface HostAlias {
  ip?: string
  hostnames?: string[]
}
export interface HostIP {
  ip?: string
}
export interface HostPathVolumeSource {
  path?: string
  type?: string
}
export interface ISCSIPersistentVolumeSource {
  targetPortal?: string
  iqn?: string
  lun?: number
  iscsiInterface?: string
  fsType?: string
  readOnly?: boolean
  portals?: string[]
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  secretRef?: SecretReference
  initiatorName?: string
}
export interface ISCSIVolumeSource {
  targetPortal?: string
  iqn?: string
  lun?: number
  iscsiInterface?: string
  fsType?: string
  readOnly?: boolean
  portals?: string[]
  chapAuthDiscovery?: boolean
  chapAuthSession?: boolean
  secretRef?: LocalObjectReference
  initiatorName?: string
}
export interface ImageVolumeSource {
  reference?: string
  pullPolicy?: string
}
export interface ImageVolumeStatus {
  imageRef?: string
}
export interface KeyToPath {
  key?: string
  path?: string
  mode?: number
}
export interface Lifecycle {
  postStart?: LifecycleHandler
  preStop?: LifecycleHandler
  stopSignal?: string
}
export interface LifecycleHandler {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  tcpSocket?: TCPSocketAction
  sleep?: SleepAction
}
export interface LimitRange {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: LimitRangeSpec
}
export interface LimitRangeItem {
  type?: string
  max?: Record<string, ApiResource.Quantity>
  min?: Record<string, ApiResource.Quantity>
  default?: Record<string, ApiResource.Quantity>
  defaultRequest?: Record<string, ApiResource.Quantity>
  maxLimitRequestRatio?: Record<string, ApiResource.Quantity>
}
export interface LimitRangeList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: LimitRange[]
}
export interface LimitRangeSpec {
  limits?: LimitRangeItem[]
}
export interface LinuxContainerUser {
  uid?: number | bigint
  gid?: number | bigint
  supplementalGroups?: (number | bigint)[]
}
export interface List {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PkgRuntime.RawExtension[]
}
export interface LoadBalancerIngress {
  ip?: string
  hostname?: string
  ipMode?: string
  ports?: PortStatus[]
}
export interface LoadBalancerStatus {
  ingress?: LoadBalancerIngress[]
}
export interface LocalObjectReference {
  name?: string
}
export interface LocalVolumeSource {
  path?: string
  fsType?: string
}
export interface ModifyVolumeStatus {
  targetVolumeAttributesClassName?: string
  status?: string
}
export interface NFSVolumeSource {
  server?: string
  path?: string
  readOnly?: boolean
}
export interface Namespace {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: NamespaceSpec
  status?: NamespaceStatus
}
export interface NamespaceCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface NamespaceList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Namespace[]
}
export interface NamespaceSpec {
  finalizers?: string[]
}
export interface NamespaceStatus {
  phase?: string
  conditions?: NamespaceCondition[]
}
export interface Node {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: NodeSpec
  status?: NodeStatus
}
export interface NodeAddress {
  type?: string
  address?: string
}
export interface NodeAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution?: PreferredSchedulingTerm[]
}
export interface NodeAllocatableResourceClaimStatus {
  resourceClaimName?: string
  containers?: string[]
  resources?: Record<string, ApiResource.Quantity>
}
export interface NodeCondition {
  type?: string
  status?: string
  lastHeartbeatTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface NodeConfigSource {
  configMap?: ConfigMapNodeConfigSource
}
export interface NodeConfigStatus {
  assigned?: NodeConfigSource
  active?: NodeConfigSource
  lastKnownGood?: NodeConfigSource
  error?: string
}
export interface NodeDaemonEndpoints {
  kubeletEndpoint?: DaemonEndpoint
}
export interface NodeFeatures {
  supplementalGroupsPolicy?: boolean
}
export interface NodeList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Node[]
}
export interface NodeProxyOptions {
  kind?: string
  apiVersion?: string
  path?: string
}
export interface NodeRuntimeHandler {
  name?: string
  features?: NodeRuntimeHandlerFeatures
}
export interface NodeRuntimeHandlerFeatures {
  recursiveReadOnlyMounts?: boolean
  userNamespaces?: boolean
}
export interface NodeSelector {
  nodeSelectorTerms?: NodeSelectorTerm[]
}
export interface NodeSelectorRequirement {
  key?: string
  operator?: string
  values?: string[]
}
export interface NodeSelectorTerm {
  matchExpressions?: NodeSelectorRequirement[]
  matchFields?: NodeSelectorRequirement[]
}
export interface NodeSpec {
  podCIDR?: string
  podCIDRs?: string[]
  providerID?: string
  unschedulable?: boolean
  taints?: Taint[]
  configSource?: NodeConfigSource
  externalID?: string
}
export interface NodeStatus {
  capacity?: Record<string, ApiResource.Quantity>
  allocatable?: Record<string, ApiResource.Quantity>
  phase?: string
  conditions?: NodeCondition[]
  addresses?: NodeAddress[]
  daemonEndpoints?: NodeDaemonEndpoints
  nodeInfo?: NodeSystemInfo
  images?: ContainerImage[]
  volumesInUse?: string[]
  volumesAttached?: AttachedVolume[]
  config?: NodeConfigStatus
  runtimeHandlers?: NodeRuntimeHandler[]
  features?: NodeFeatures
  declaredFeatures?: string[]
}
export interface NodeSwapStatus {
  capacity?: number | bigint
}
export interface NodeSystemInfo {
  machineID?: string
  systemUUID?: string
  bootID?: string
  kernelVersion?: string
  osImage?: string
  containerRuntimeVersion?: string
  kubeletVersion?: string
  kubeProxyVersion?: string
  operatingSystem?: string
  architecture?: string
  swap?: NodeSwapStatus
}
export interface ObjectFieldSelector {
  apiVersion?: string
  fieldPath?: string
}
export interface ObjectReference {
  kind?: string
  namespace?: string
  name?: string
  uid?: string
  apiVersion?: string
  resourceVersion?: string
  fieldPath?: string
}
export interface PersistentVolume {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PersistentVolumeSpec
  status?: PersistentVolumeStatus
}
export interface PersistentVolumeClaim {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PersistentVolumeClaimSpec
  status?: PersistentVolumeClaimStatus
}
export interface PersistentVolumeClaimCondition {
  type?: string
  status?: string
  lastProbeTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface PersistentVolumeClaimList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PersistentVolumeClaim[]
}
export interface PersistentVolumeClaimSpec {
  accessModes?: string[]
  selector?: MetaV1.LabelSelector
  resources?: VolumeResourceRequirements
  volumeName?: string
  storageClassName?: string
  volumeMode?: string
  dataSource?: TypedLocalObjectReference
  dataSourceRef?: TypedObjectReference
  volumeAttributesClassName?: string
}
export interface PersistentVolumeClaimStatus {
  phase?: string
  accessModes?: string[]
  capacity?: Record<string, ApiResource.Quantity>
  conditions?: PersistentVolumeClaimCondition[]
  allocatedResources?: Record<string, ApiResource.Quantity>
  allocatedResourceStatuses?: Record<string, string>
  currentVolumeAttributesClassName?: string
  modifyVolumeStatus?: ModifyVolumeStatus
}
export interface PersistentVolumeClaimTemplate {
  metadata?: MetaV1.ObjectMeta
  spec?: PersistentVolumeClaimSpec
}
export interface PersistentVolumeClaimVolumeSource {
  claimName?: string
  readOnly?: boolean
}
export interface PersistentVolumeList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PersistentVolume[]
}
export interface PersistentVolumeSource {
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  hostPath?: HostPathVolumeSource
  glusterfs?: GlusterfsPersistentVolumeSource
  nfs?: NFSVolumeSource
  rbd?: RBDPersistentVolumeSource
  iscsi?: ISCSIPersistentVolumeSource
  cinder?: CinderPersistentVolumeSource
  cephfs?: CephFSPersistentVolumeSource
  fc?: FCVolumeSource
  flocker?: FlockerVolumeSource
  flexVolume?: FlexPersistentVolumeSource
  azureFile?: AzureFilePersistentVolumeSource
  vsphereVolume?: VsphereVirtualDiskVolumeSource
  quobyte?: QuobyteVolumeSource
  azureDisk?: AzureDiskVolumeSource
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  portworxVolume?: PortworxVolumeSource
  scaleIO?: ScaleIOPersistentVolumeSource
  local?: LocalVolumeSource
  storageos?: StorageOSPersistentVolumeSource
  csi?: CSIPersistentVolumeSource
}
export interface PersistentVolumeSpec {
  capacity?: Record<string, ApiResource.Quantity>
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  hostPath?: HostPathVolumeSource
  glusterfs?: GlusterfsPersistentVolumeSource
  nfs?: NFSVolumeSource
  rbd?: RBDPersistentVolumeSource
  iscsi?: ISCSIPersistentVolumeSource
  cinder?: CinderPersistentVolumeSource
  cephfs?: CephFSPersistentVolumeSource
  fc?: FCVolumeSource
  flocker?: FlockerVolumeSource
  flexVolume?: FlexPersistentVolumeSource
  azureFile?: AzureFilePersistentVolumeSource
  vsphereVolume?: VsphereVirtualDiskVolumeSource
  quobyte?: QuobyteVolumeSource
  azureDisk?: AzureDiskVolumeSource
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  portworxVolume?: PortworxVolumeSource
  scaleIO?: ScaleIOPersistentVolumeSource
  local?: LocalVolumeSource
  storageos?: StorageOSPersistentVolumeSource
  csi?: CSIPersistentVolumeSource
  accessModes?: string[]
  claimRef?: ObjectReference
  persistentVolumeReclaimPolicy?: string
  storageClassName?: string
  mountOptions?: string[]
  volumeMode?: string
  nodeAffinity?: VolumeNodeAffinity
  volumeAttributesClassName?: string
}
export interface PersistentVolumeStatus {
  phase?: string
  message?: string
  reason?: string
  lastPhaseTransitionTime?: MetaV1.Time
}
export interface PhotonPersistentDiskVolumeSource {
  pdID?: string
  fsType?: string
}
export interface Pod {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: PodSpec
  status?: PodStatus
}
export interface PodAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[]
}
export interface PodAffinityTerm {
  labelSelector?: MetaV1.LabelSelector
  namespaces?: string[]
  topologyKey?: string
  namespaceSelector?: MetaV1.LabelSelector
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}
export interface PodAntiAffinity {
  requiredDuringSchedulingIgnoredDuringExecution?: PodAffinityTerm[]
  preferredDuringSchedulingIgnoredDuringExecution?: WeightedPodAffinityTerm[]
}
export interface PodAttachOptions {
  kind?: string
  apiVersion?: string
  stdin?: boolean
  stdout?: boolean
  stderr?: boolean
  tty?: boolean
  container?: string
}
export interface PodCertificateProjection {
  signerName?: string
  keyType?: string
  maxExpirationSeconds?: number
  credentialBundlePath?: string
  keyPath?: string
  certificateChainPath?: string
  userAnnotations?: Record<string, string>
}
export interface PodCondition {
  type?: string
  observedGeneration?: number | bigint
  status?: string
  lastProbeTime?: MetaV1.Time
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface PodDNSConfig {
  nameservers?: string[]
  searches?: string[]
  options?: PodDNSConfigOption[]
}
export interface PodDNSConfigOption {
  name?: string
  value?: string
}
export interface PodExecOptions {
  kind?: string
  apiVersion?: string
  stdin?: boolean
  stdout?: boolean
  stderr?: boolean
  tty?: boolean
  container?: string
  command?: string[]
}
export interface PodExtendedResourceClaimStatus {
  requestMappings?: ContainerExtendedResourceRequest[]
  resourceClaimName?: string
}
export interface PodIP {
  ip?: string
}
export interface PodList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Pod[]
}
export interface PodLogOptions {
  kind?: string
  apiVersion?: string
  container?: string
  follow?: boolean
  previous?: boolean
  sinceSeconds?: number | bigint
  sinceTime?: MetaV1.Time
  timestamps?: boolean
  tailLines?: number | bigint
  limitBytes?: number | bigint
  insecureSkipTLSVerifyBackend?: boolean
  stream?: string
}
export interface PodOS {
  name?: string
}
export interface PodPortForwardOptions {
  kind?: string
  apiVersion?: string
  ports?: number[]
}
export interface PodProxyOptions {
  kind?: string
  apiVersion?: string
  path?: string
}
export interface PodReadinessGate {
  conditionType?: string
}
export interface PodResourceClaim {
  name?: string
  resourceClaimName?: string
  resourceClaimTemplateName?: string
}
export interface PodResourceClaimStatus {
  name?: string
  resourceClaimName?: string
}
export interface PodSchedulingGate {
  name?: string
}
export interface PodSchedulingGroup {
  podGroupName?: string
}
export interface PodSecurityContext {
  seLinuxOptions?: SELinuxOptions
  windowsOptions?: WindowsSecurityContextOptions
  runAsUser?: number | bigint
  runAsGroup?: number | bigint
  runAsNonRoot?: boolean
  supplementalGroups?: (number | bigint)[]
  supplementalGroupsPolicy?: string
  fsGroup?: number | bigint
  sysctls?: Sysctl[]
  fsGroupChangePolicy?: string
  seccompProfile?: SeccompProfile
  appArmorProfile?: AppArmorProfile
  seLinuxChangePolicy?: string
}
export interface PodSignature {
  podController?: MetaV1.OwnerReference
}
export interface PodSpec {
  volumes?: Volume[]
  initContainers?: Container[]
  containers?: Container[]
  ephemeralContainers?: EphemeralContainer[]
  restartPolicy?: string
  terminationGracePeriodSeconds?: number | bigint
  activeDeadlineSeconds?: number | bigint
  dnsPolicy?: string
  nodeSelector?: Record<string, string>
  serviceAccountName?: string
  serviceAccount?: string
  automountServiceAccountToken?: boolean
  nodeName?: string
  hostNetwork?: boolean
  hostPID?: boolean
  hostIPC?: boolean
  shareProcessNamespace?: boolean
  securityContext?: PodSecurityContext
  imagePullSecrets?: LocalObjectReference[]
  hostname?: string
  subdomain?: string
  affinity?: Affinity
  schedulerName?: string
  tolerations?: Toleration[]
  hostAliases?: HostAlias[]
  priorityClassName?: string
  priority?: number
  dnsConfig?: PodDNSConfig
  readinessGates?: PodReadinessGate[]
  runtimeClassName?: string
  enableServiceLinks?: boolean
  preemptionPolicy?: string
  overhead?: Record<string, ApiResource.Quantity>
  topologySpreadConstraints?: TopologySpreadConstraint[]
  setHostnameAsFQDN?: boolean
  os?: PodOS
  hostUsers?: boolean
  schedulingGates?: PodSchedulingGate[]
  resourceClaims?: PodResourceClaim[]
  resources?: ResourceRequirements
  hostnameOverride?: string
  schedulingGroup?: PodSchedulingGroup
}
export interface PodStatus {
  observedGeneration?: number | bigint
  phase?: string
  conditions?: PodCondition[]
  message?: string
  reason?: string
  nominatedNodeName?: string
  hostIP?: string
  hostIPs?: HostIP[]
  podIP?: string
  podIPs?: PodIP[]
  startTime?: MetaV1.Time
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
  qosClass?: string
  ephemeralContainerStatuses?: ContainerStatus[]
  resize?: string
  resourceClaimStatuses?: PodResourceClaimStatus[]
  extendedResourceClaimStatus?: PodExtendedResourceClaimStatus
  allocatedResources?: Record<string, ApiResource.Quantity>
  resources?: ResourceRequirements
  nodeAllocatableResourceClaimStatuses?: NodeAllocatableResourceClaimStatus[]
}
export interface PodStatusResult {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  status?: PodStatus
}
export interface PodTemplate {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  template?: PodTemplateSpec
}
export interface PodTemplateList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: PodTemplate[]
}
export interface PodTemplateSpec {
  metadata?: MetaV1.ObjectMeta
  spec?: PodSpec
}
export interface PortStatus {
  port?: number
  protocol?: string
  error?: string
}
export interface PortworxVolumeSource {
  volumeID?: string
  fsType?: string
  readOnly?: boolean
}
export interface Preconditions {
  uid?: string
}
export interface PreferAvoidPodsEntry {
  podSignature?: PodSignature
  evictionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface PreferredSchedulingTerm {
  weight?: number
  preference?: NodeSelectorTerm
}
export interface Probe {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  tcpSocket?: TCPSocketAction
  grpc?: GRPCAction
  initialDelaySeconds?: number
  timeoutSeconds?: number
  periodSeconds?: number
  successThreshold?: number
  failureThreshold?: number
  terminationGracePeriodSeconds?: number | bigint
}
export interface ProbeHandler {
  exec?: ExecAction
  httpGet?: HTTPGetAction
  tcpSocket?: TCPSocketAction
  grpc?: GRPCAction
}
export interface ProjectedVolumeSource {
  sources?: VolumeProjection[]
  defaultMode?: number
}
export interface QuobyteVolumeSource {
  registry?: string
  volume?: string
  readOnly?: boolean
  user?: string
  group?: string
  tenant?: string
}
export interface RBDPersistentVolumeSource {
  monitors?: string[]
  image?: string
  fsType?: string
  pool?: string
  user?: string
  keyring?: string
  secretRef?: SecretReference
  readOnly?: boolean
}
export interface RBDVolumeSource {
  monitors?: string[]
  image?: string
  fsType?: string
  pool?: string
  user?: string
  keyring?: string
  secretRef?: LocalObjectReference
  readOnly?: boolean
}
export interface RangeAllocation {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  range?: string
  data?: string
}
export interface ReplicationController {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ReplicationControllerSpec
  status?: ReplicationControllerStatus
}
export interface ReplicationControllerCondition {
  type?: string
  status?: string
  lastTransitionTime?: MetaV1.Time
  reason?: string
  message?: string
}
export interface ReplicationControllerList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ReplicationController[]
}
export interface ReplicationControllerSpec {
  replicas?: number
  minReadySeconds?: number
  selector?: Record<string, string>
  template?: PodTemplateSpec
}
export interface ReplicationControllerStatus {
  replicas?: number
  fullyLabeledReplicas?: number
  readyReplicas?: number
  availableReplicas?: number
  observedGeneration?: number | bigint
  conditions?: ReplicationControllerCondition[]
}
export interface ResourceClaim {
  name?: string
  request?: string
}
export interface ResourceFieldSelector {
  containerName?: string
  resource?: string
  divisor?: ApiResource.Quantity
}
export interface ResourceHealth {
  resourceID?: string
  health?: string
  message?: string
}
export interface ResourceQuota {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ResourceQuotaSpec
  status?: ResourceQuotaStatus
}
export interface ResourceQuotaList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ResourceQuota[]
}
export interface ResourceQuotaSpec {
  hard?: Record<string, ApiResource.Quantity>
  scopes?: string[]
  scopeSelector?: ScopeSelector
}
export interface ResourceQuotaStatus {
  hard?: Record<string, ApiResource.Quantity>
  used?: Record<string, ApiResource.Quantity>
}
export interface ResourceRequirements {
  limits?: Record<string, ApiResource.Quantity>
  requests?: Record<string, ApiResource.Quantity>
  claims?: ResourceClaim[]
}
export interface ResourceStatus {
  name?: string
  resources?: ResourceHealth[]
}
export interface SELinuxOptions {
  user?: string
  role?: string
  type?: string
  level?: string
}
export interface ScaleIOPersistentVolumeSource {
  gateway?: string
  system?: string
  secretRef?: SecretReference
  sslEnabled?: boolean
  protectionDomain?: string
  storagePool?: string
  storageMode?: string
  volumeName?: string
  fsType?: string
  readOnly?: boolean
}
export interface ScaleIOVolumeSource {
  gateway?: string
  system?: string
  secretRef?: LocalObjectReference
  sslEnabled?: boolean
  protectionDomain?: string
  storagePool?: string
  storageMode?: string
  volumeName?: string
  fsType?: string
  readOnly?: boolean
}
export interface ScopeSelector {
  matchExpressions?: ScopedResourceSelectorRequirement[]
}
export interface ScopedResourceSelectorRequirement {
  scopeName?: string
  operator?: string
  values?: string[]
}
export interface SeccompProfile {
  type?: string
  localhostProfile?: string
}
export interface Secret {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  immutable?: boolean
  data?: Record<string, string>
  stringData?: Record<string, string>
  type?: string
}
export interface SecretEnvSource {
  name?: string
  optional?: boolean
}
export interface SecretKeySelector {
  name?: string
  key?: string
  optional?: boolean
}
export interface SecretList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Secret[]
}
export interface SecretProjection {
  name?: string
  items?: KeyToPath[]
  optional?: boolean
}
export interface SecretReference {
  name?: string
  namespace?: string
}
export interface SecretVolumeSource {
  secretName?: string
  items?: KeyToPath[]
  defaultMode?: number
  optional?: boolean
}
export interface SecurityContext {
  capabilities?: Capabilities
  privileged?: boolean
  seLinuxOptions?: SELinuxOptions
  windowsOptions?: WindowsSecurityContextOptions
  runAsUser?: number | bigint
  runAsGroup?: number | bigint
  runAsNonRoot?: boolean
  readOnlyRootFilesystem?: boolean
  allowPrivilegeEscalation?: boolean
  procMount?: string
  seccompProfile?: SeccompProfile
  appArmorProfile?: AppArmorProfile
}
export interface SerializedReference {
  kind?: string
  apiVersion?: string
  reference?: ObjectReference
}
export interface Service {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  spec?: ServiceSpec
  status?: ServiceStatus
}
export interface ServiceAccount {
  kind?: string
  apiVersion?: string
  metadata: MetaV1.ObjectMeta
  secrets?: ObjectReference[]
  imagePullSecrets?: LocalObjectReference[]
  automountServiceAccountToken?: boolean
}
export interface ServiceAccountList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: ServiceAccount[]
}
export interface ServiceAccountTokenProjection {
  audience?: string
  expirationSeconds?: number | bigint
  path?: string
}
export interface ServiceList {
  kind?: string
  apiVersion?: string
  metadata?: MetaV1.ListMeta
  items?: Service[]
}
export interface ServicePort {
  name?: string
  protocol?: string
  appProtocol?: string
  port?: number
  targetPort?: UtilIntstr.IntOrString
  nodePort?: number
}
export interface ServiceProxyOptions {
  kind?: string
  apiVersion?: string
  path?: string
}
export interface ServiceSpec {
  ports?: ServicePort[]
  selector?: Record<string, string>
  clusterIP?: string
  clusterIPs?: string[]
  type?: string
  externalIPs?: string[]
  sessionAffinity?: string
  loadBalancerIP?: string
  loadBalancerSourceRanges?: string[]
  externalName?: string
  externalTrafficPolicy?: string
  healthCheckNodePort?: number
  publishNotReadyAddresses?: boolean
  sessionAffinityConfig?: SessionAffinityConfig
  ipFamilies?: string[]
  ipFamilyPolicy?: string
  allocateLoadBalancerNodePorts?: boolean
  loadBalancerClass?: string
  internalTrafficPolicy?: string
  trafficDistribution?: string
}
export interface ServiceStatus {
  loadBalancer?: LoadBalancerStatus
  conditions?: MetaV1.Condition[]
}
export interface SessionAffinityConfig {
  clientIP?: ClientIPConfig
}
export interface SleepAction {
  seconds?: number | bigint
}
export interface StorageOSPersistentVolumeSource {
  volumeName?: string
  volumeNamespace?: string
  fsType?: string
  readOnly?: boolean
  secretRef?: ObjectReference
}
export interface StorageOSVolumeSource {
  volumeName?: string
  volumeNamespace?: string
  fsType?: string
  readOnly?: boolean
  secretRef?: LocalObjectReference
}
export interface Sysctl {
  name?: string
  value?: string
}
export interface TCPSocketAction {
  port?: UtilIntstr.IntOrString
  host?: string
}
export interface Taint {
  key?: string
  value?: string
  effect?: string
  timeAdded?: MetaV1.Time
}
export interface Toleration {
  key?: string
  operator?: string
  value?: string
  effect?: string
  tolerationSeconds?: number | bigint
}
export interface TopologySelectorLabelRequirement {
  key?: string
  values?: string[]
}
export interface TopologySelectorTerm {
  matchLabelExpressions?: TopologySelectorLabelRequirement[]
}
export interface TopologySpreadConstraint {
  maxSkew?: number
  topologyKey?: string
  whenUnsatisfiable?: string
  labelSelector?: MetaV1.LabelSelector
  minDomains?: number
  nodeAffinityPolicy?: string
  nodeTaintsPolicy?: string
  matchLabelKeys?: string[]
}
export interface TypedLocalObjectReference {
  apiGroup?: string
  kind?: string
  name?: string
}
export interface TypedObjectReference {
  apiGroup?: string
  kind?: string
  name?: string
  namespace?: string
}
export interface Volume {
  name?: string
  hostPath?: HostPathVolumeSource
  emptyDir?: EmptyDirVolumeSource
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  gitRepo?: GitRepoVolumeSource
  secret?: SecretVolumeSource
  nfs?: NFSVolumeSource
  iscsi?: ISCSIVolumeSource
  glusterfs?: GlusterfsVolumeSource
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource
  rbd?: RBDVolumeSource
  flexVolume?: FlexVolumeSource
  cinder?: CinderVolumeSource
  cephfs?: CephFSVolumeSource
  flocker?: FlockerVolumeSource
  downwardAPI?: DownwardAPIVolumeSource
  fc?: FCVolumeSource
  azureFile?: AzureFileVolumeSource
  configMap?: ConfigMapVolumeSource
  vsphereVolume?: VsphereVirtualDiskVolumeSource
  quobyte?: QuobyteVolumeSource
  azureDisk?: AzureDiskVolumeSource
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  projected?: ProjectedVolumeSource
  portworxVolume?: PortworxVolumeSource
  scaleIO?: ScaleIOVolumeSource
  storageos?: StorageOSVolumeSource
  csi?: CSIVolumeSource
  ephemeral?: EphemeralVolumeSource
  image?: ImageVolumeSource
}
export interface VolumeDevice {
  name?: string
  devicePath?: string
}
export interface VolumeMount {
  name?: string
  readOnly?: boolean
  recursiveReadOnly?: string
  mountPath?: string
  subPath?: string
  mountPropagation?: string
  subPathExpr?: string
}
export interface VolumeMountStatus {
  name?: string
  mountPath?: string
  readOnly?: boolean
  recursiveReadOnly?: string
  volumeStatus?: VolumeStatus
}
export interface VolumeNodeAffinity {
  required?: NodeSelector
}
export interface VolumeProjection {
  secret?: SecretProjection
  downwardAPI?: DownwardAPIProjection
  configMap?: ConfigMapProjection
  serviceAccountToken?: ServiceAccountTokenProjection
  clusterTrustBundle?: ClusterTrustBundleProjection
  podCertificate?: PodCertificateProjection
}
export interface VolumeResourceRequirements {
  limits?: Record<string, ApiResource.Quantity>
  requests?: Record<string, ApiResource.Quantity>
}
export interface VolumeSource {
  hostPath?: HostPathVolumeSource
  emptyDir?: EmptyDirVolumeSource
  gcePersistentDisk?: GCEPersistentDiskVolumeSource
  awsElasticBlockStore?: AWSElasticBlockStoreVolumeSource
  gitRepo?: GitRepoVolumeSource
  secret?: SecretVolumeSource
  nfs?: NFSVolumeSource
  iscsi?: ISCSIVolumeSource
  glusterfs?: GlusterfsVolumeSource
  persistentVolumeClaim?: PersistentVolumeClaimVolumeSource
  rbd?: RBDVolumeSource
  flexVolume?: FlexVolumeSource
  cinder?: CinderVolumeSource
  cephfs?: CephFSVolumeSource
  flocker?: FlockerVolumeSource
  downwardAPI?: DownwardAPIVolumeSource
  fc?: FCVolumeSource
  azureFile?: AzureFileVolumeSource
  configMap?: ConfigMapVolumeSource
  vsphereVolume?: VsphereVirtualDiskVolumeSource
  quobyte?: QuobyteVolumeSource
  azureDisk?: AzureDiskVolumeSource
  photonPersistentDisk?: PhotonPersistentDiskVolumeSource
  projected?: ProjectedVolumeSource
  portworxVolume?: PortworxVolumeSource
  scaleIO?: ScaleIOVolumeSource
  storageos?: StorageOSVolumeSource
  csi?: CSIVolumeSource
  ephemeral?: EphemeralVolumeSource
  image?: ImageVolumeSource
}
export interface VolumeStatus {
  image?: ImageVolumeStatus
}
export interface VsphereVirtualDiskVolumeSource {
  volumePath?: string
  fsType?: string
  storagePolicyName?: string
  storagePolicyID?: string
}
export interface WeightedPodAffinityTerm {
  weight?: number
  podAffinityTerm?: PodAffinityTerm
}
export interface WindowsSecurityContextOptions {
  gmsaCredentialSpecName?: string
  gmsaCredentialSpec?: string
  runAsUserName?: string
  hostProcess?: boolean
}
