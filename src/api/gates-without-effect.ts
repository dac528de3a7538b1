/**
 * Feature gates that change nothing here, by reason. Gates that are locked to their default are not listed.
 * `test/api/gates-without-effect.test.ts` compares these lists with the gates that code reads.
 */
import type { FeatureGates } from './feature-gates.ts'
import { parseFeatureGates } from './feature-gates.ts'
import { ownValue } from '../base/own.ts'

/** They change a kubelet, kube-proxy, a runtime or a cloud's controllers, and nothing of the API server. */
export const ofOtherComponents: readonly string[] = [
  'AllowDNSOnlyNodeCSR',
  'AllowServiceExternalIPs',
  'CPUManagerPolicyAlphaOptions',
  'CPUManagerPolicyBetaOptions',
  'CRIListStreaming',
  'CSIVolumeHealth',
  'ChangeContainerStatusOnKubeletRestart',
  'CloudControllerManagerWatchBasedRoutesReconciliation',
  'CloudControllerManagerWebhook',
  'ContainerCheckpoint',
  'ControllerManagerReleaseLeaderElectionLockOnExit',
  'CustomCPUCFSQuotaPeriod',
  'DisableCPUQuotaWithExclusiveCPUs',
  'EventedPLEG',
  'GracefulNodeShutdown',
  'GracefulNodeShutdownBasedOnPodPriority',
  'InPlacePodVerticalScalingExclusiveCPUs',
  'InPlacePodVerticalScalingExclusiveMemory',
  'KubeletCrashLoopBackOffMax',
  'KubeletEnsureSecretPulledImages',
  'KubeletInUserNamespace',
  'KubeletPodResourcesListUseActivePods',
  'KubeletRegistrationGetOnExistsOnly',
  'KubeletSeparateDiskGC',
  'LocalStorageCapacityIsolationFSQuotaMonitoring',
  'MemoryQoS',
  'PLEGOnDemandRelist',
  'PodAndContainerStatsFromCRI',
  'PodLevelResourceManagers',
  'PodReadyToStartContainersCondition',
  'PodsAPI',
  'PreventStaticPodAPIReferences',
  'QOSReserved',
  'ReduceDefaultCrashLoopBackOffDecay',
  'ReloadKubeletClientCAFile',
  'ReloadKubeletServerCertificateFile',
  'RotateKubeletServerCertificate',
  'RuntimeClassInImageCriApi',
  'TopologyManagerPolicyAlphaOptions',
  'TopologyManagerPolicyBetaOptions',
  'WindowsCPUAndMemoryAffinity',
  'WindowsGracefulNodeShutdown',
  'WindowsHostNetwork',
]

/** They change how kube-apiserver, its clients or its controllers work inside, and no answer. */
export const ofInternals: readonly string[] = [
  'APIResponseCompression',
  'APIServingWithRoutine',
  'AtomicFIFO',
  'ClientsAllowCARotation',
  'ClientsAllowCBOR',
  'ClientsAllowTLSCacheGC',
  'ClientsPreferCBOR',
  'ConcurrentWatchObjectDecode',
  'ContextualLogging',
  'DRASchedulerFilterTimeout',
  'DeclarativeValidationBeta',
  'DeclarativeValidationTakeover',
  'DetectCacheInconsistency',
  'InOrderInformersBatchProcess',
  'InformerResourceVersion',
  'ListFromCacheSnapshot',
  'LoggingAlphaOptions',
  'LoggingBetaOptions',
  'OpportunisticBatching',
  'SchedulerAsyncAPICalls',
  'SchedulerAsyncPreemption',
  'SchedulerPopFromBackoffQ',
  'SizeBasedListCostEstimate',
  'StaleControllerConsistencyDaemonSet',
  'StaleControllerConsistencyJob',
  'StaleControllerConsistencyReplicaSet',
  'StaleControllerConsistencyStatefulSet',
  'StorageNamespaceIndex',
  'StructuredAuthenticationConfigurationEgressSelector',
  'StructuredAuthenticationConfigurationJWKSMetrics',
  'UnauthenticatedHTTP2DOSMitigation',
  'UnknownVersionInteroperabilityProxy',
  'UnlockWhileProcessingFIFO',
  'WatchCacheInitializationPostStartHook',
  'WatchListClient',
]

/** They would change what clients see. Each has what Kedge does whatever its state. */
export const notHeeded: Readonly<Record<string, string>> = {
  APIServerIdentity: 'the server has a Lease in kube-system',
  AllowUnsafeMalformedObjectDeletion: 'no DELETE ignores errors of the storage',
  CoordinatedLeaderElection: 'no controller elects leaders from LeaseCandidates',
  DRANodeAllocatableResources: 'the scheduler charges devices to no other resources of their node',
  DRAResourcePoolStatus: 'no controller answers ResourcePoolStatusRequests',
  DRAWorkloadResourceClaims: 'no claims are made or reserved for a PodGroup',
  GangScheduling: 'the scheduler places each pod of a group by itself',
  InPlacePodVerticalScalingInitContainers: 'a resize may change restartable init containers',
  KMSv1: 'no KMS provider of version 1 encrypts',
  NativeHistograms: '/metrics has classic histograms',
  NominatedNodeNameForExpectation: 'the scheduler nominates a node only for a pod that preempts others',
  PersistentVolumeClaimUnusedSinceTime: 'claims get no condition Unused',
  PortForwardWebsockets: 'port-forward takes WebSockets',
  RelaxedServiceNameValidation: 'the name of a Service may begin with a digit',
  ServiceCIDRStatusFieldWiping: 'a client cannot write the status of a ServiceCIDR with its spec',
  StatefulSetSemanticRevisionComparison: 'the revisions of a StatefulSet are compared by meaning',
  StorageCapacityScoring: 'the scheduler does not score by storage capacity',
  StorageVersionAPI: 'no StorageVersions are recorded',
  StorageVersionHash: 'discovery has the hashes of storage versions',
  StrictIPCIDRValidation: 'IP addresses and ranges are checked strictly',
  TokenRequestServiceAccountUIDValidation: 'a TokenRequest with the UID of another account is refused',
  TranslateStreamCloseWebsocketRequests: 'exec, attach and port-forward take WebSockets',
  VolumeLimitScaling: 'the scheduler does not ask whether a node has the CSI driver of a volume',
  WorkloadWithJob: 'the job controller makes no Workloads',
}

/** A warning for each gate that the setting changes without an effect that it would have in kube-apiserver. */
export function warningsOf(gates: FeatureGates): string[] {
  const defaults = parseFeatureGates(undefined)
  return gates.all
    .filter(({ name, enabled }) => enabled !== defaults.enabled(name))
    .flatMap(({ name, enabled }) => {
      const instead = ownValue(notHeeded, name)
      return instead === undefined ? [] : [`feature gate ${name}=${enabled} has no effect: ${instead}`]
    })
}
