/** Which controllers run: kube-controller-manager's --controllers, with its names and their aliases. */
import { ownValue } from '../base/own.ts'

/**
 * `api`: the API itself needs it, it always runs. `collector`: runs unless it is switched off, with and without
 * workloads. `workload`: runs with workloads. `part`: belongs to one of these.
 * `absent`: not built in.
 * The last two names are of programs beside kube-controller-manager.
 */
const kinds = {
  'bootstrap-signer-controller': 'api',
  'certificatesigningrequest-approving-controller': 'api',
  'certificatesigningrequest-cleaner-controller': 'api',
  'certificatesigningrequest-signing-controller': 'api',
  'cloud-node-lifecycle-controller': 'absent',
  'clusterrole-aggregation-controller': 'api',
  'cronjob-controller': 'workload',
  'daemonset-controller': 'workload',
  'deployment-controller': 'workload',
  'device-taint-eviction-controller': 'workload',
  'disruption-controller': 'workload',
  'endpoints-controller': 'workload',
  'endpointslice-controller': 'workload',
  'endpointslice-mirroring-controller': 'workload',
  'ephemeral-volume-controller': 'workload',
  'garbage-collector-controller': 'collector',
  'horizontal-pod-autoscaler-controller': 'workload',
  'job-controller': 'workload',
  'kube-apiserver-serving-clustertrustbundle-publisher-controller': 'absent',
  'legacy-serviceaccount-token-cleaner-controller': 'absent',
  'namespace-controller': 'api',
  'node-ipam-controller': 'absent',
  'node-lifecycle-controller': 'workload',
  'node-route-controller': 'absent',
  'persistentvolume-attach-detach-controller': 'absent',
  'persistentvolume-binder-controller': 'workload',
  'persistentvolume-expander-controller': 'part',
  'persistentvolume-protection-controller': 'api',
  'persistentvolumeclaim-protection-controller': 'api',
  'pod-garbage-collector-controller': 'workload',
  'podcertificaterequest-cleaner-controller': 'absent',
  'podgroup-protection-controller': 'api',
  'replicaset-controller': 'workload',
  'replicationcontroller-controller': 'workload',
  'resourceclaim-controller': 'workload',
  'resourcepoolstatusrequest-controller': 'absent',
  'resourcequota-controller': 'api',
  'root-ca-certificate-publisher-controller': 'api',
  'selinux-warning-controller': 'absent',
  'service-cidr-controller': 'workload',
  'service-lb-controller': 'workload',
  'serviceaccount-controller': 'api',
  'serviceaccount-token-controller': 'api',
  'statefulset-controller': 'workload',
  'storage-version-migrator-controller': 'absent',
  'storageversion-garbage-collector-controller': 'absent',
  'taint-eviction-controller': 'workload',
  'token-cleaner-controller': 'api',
  'ttl-after-finished-controller': 'part',
  'ttl-controller': 'workload',
  'validatingadmissionpolicy-status-controller': 'api',
  'volumeattributesclass-protection-controller': 'api',
  'kube-scheduler': 'workload',
  'simulated-kubelet': 'workload',
} as const

/** With which other one it runs. */
const wholes: Readonly<Record<string, ControllerName>> = {
  'persistentvolume-expander-controller': 'persistentvolume-binder-controller',
  'ttl-after-finished-controller': 'job-controller',
}

type Names<Kind> = { [Name in keyof typeof kinds]: (typeof kinds)[Name] extends Kind ? Name : never }
/** Of the workload controllers. They can be switched off, as the garbage collector can. */
export type ControllerName = Names<'workload'>[keyof typeof kinds]

const COLLECTOR = 'garbage-collector-controller'

const aliases: Readonly<Record<string, keyof typeof kinds>> = {
  attachdetach: 'persistentvolume-attach-detach-controller',
  bootstrapsigner: 'bootstrap-signer-controller',
  'cloud-node-lifecycle': 'cloud-node-lifecycle-controller',
  'clusterrole-aggregation': 'clusterrole-aggregation-controller',
  cronjob: 'cronjob-controller',
  csrapproving: 'certificatesigningrequest-approving-controller',
  csrcleaner: 'certificatesigningrequest-cleaner-controller',
  csrsigning: 'certificatesigningrequest-signing-controller',
  daemonset: 'daemonset-controller',
  deployment: 'deployment-controller',
  disruption: 'disruption-controller',
  endpoint: 'endpoints-controller',
  endpointslice: 'endpointslice-controller',
  endpointslicemirroring: 'endpointslice-mirroring-controller',
  'ephemeral-volume': 'ephemeral-volume-controller',
  garbagecollector: 'garbage-collector-controller',
  horizontalpodautoscaling: 'horizontal-pod-autoscaler-controller',
  job: 'job-controller',
  'legacy-service-account-token-cleaner': 'legacy-serviceaccount-token-cleaner-controller',
  namespace: 'namespace-controller',
  nodeipam: 'node-ipam-controller',
  nodelifecycle: 'node-lifecycle-controller',
  'persistentvolume-binder': 'persistentvolume-binder-controller',
  'persistentvolume-expander': 'persistentvolume-expander-controller',
  podgc: 'pod-garbage-collector-controller',
  'pv-protection': 'persistentvolume-protection-controller',
  'pvc-protection': 'persistentvolumeclaim-protection-controller',
  replicaset: 'replicaset-controller',
  replicationcontroller: 'replicationcontroller-controller',
  'resource-claim-controller': 'resourceclaim-controller',
  resourcequota: 'resourcequota-controller',
  'root-ca-cert-publisher': 'root-ca-certificate-publisher-controller',
  route: 'node-route-controller',
  service: 'service-lb-controller',
  serviceaccount: 'serviceaccount-controller',
  'serviceaccount-token': 'serviceaccount-token-controller',
  statefulset: 'statefulset-controller',
  'storage-version-gc': 'storageversion-garbage-collector-controller',
  svm: 'storage-version-migrator-controller',
  tokencleaner: 'token-cleaner-controller',
  ttl: 'ttl-controller',
  'ttl-after-finished': 'ttl-after-finished-controller',
}

export interface ControllerSelection {
  /** As it was written. */
  readonly text: string
  isEnabled(name: ControllerName): boolean
  /** Off only where the text says so by name: without it objects of deleted owners stay for ever. */
  readonly collectsGarbage: boolean
  /** Whether the text says something about workload controllers. */
  readonly isOfWorkloads: boolean
}

/**
 * @param text `*`, `NAME`, `-NAME`, with commas between: the first word about a controller counts, then the star
 * @throws Error for a name that nobody has, and for what cannot be done
 */
export function parseControllers(text: string): ControllerSelection {
  const words = new Map<string, boolean>()
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '*') {
      words.set('*', true)
      continue
    }
    const isOn = !part.startsWith('-')
    const name = isOn ? part : part.slice(1)
    const known = ownValue(aliases, name) ?? name
    const kind = ownValue<string>(kinds, known)
    if (kind === undefined) throw new Error(`${JSON.stringify(name)} is not in the list of known controllers`)
    if (kind === 'absent' && isOn) throw new Error(`${JSON.stringify(name)} is not built in`)
    if (kind === 'api' && !isOn) throw new Error(`${JSON.stringify(name)} belongs to the API and always runs`)
    if (!words.has(known)) words.set(known, isOn)
  }
  const isEnabled = (name: string) => words.get(name) ?? words.has('*')
  for (const [name, whole] of Object.entries(wholes))
    if (isEnabled(name) !== isEnabled(whole) && words.has(name))
      throw new Error(`${JSON.stringify(name)} is on or off with ${JSON.stringify(whole)}`)
  const isOfWorkloads = [...words.keys()].some((name) => name !== '*' && name !== COLLECTOR)
  return { text, isEnabled, collectsGarbage: words.get(COLLECTOR) ?? true, isOfWorkloads }
}

/** kube-controller-manager's controllers that are missing here. */
export const notBuiltIn: readonly string[] = Object.entries(kinds).flatMap(([name, kind]) =>
  kind === 'absent' ? [name] : [],
)

/** All that can be switched off with the workloads. */
export const switchable = (Object.keys(kinds) as (keyof typeof kinds)[]).filter(
  (name): name is ControllerName => kinds[name] === 'workload',
)
