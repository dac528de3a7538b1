/** Which admission plugins run: kube-apiserver's --enable-admission-plugins and --disable-admission-plugins. */

/** kube-apiserver's plugins in the order in which it runs them. NodeRestriction is on here, as kubeadm has it. */
const runsByDefault = {
  AlwaysAdmit: false,
  NamespaceAutoProvision: false,
  NamespaceLifecycle: true,
  NamespaceExists: false,
  LimitPodHardAntiAffinityTopology: false,
  LimitRanger: true,
  ServiceAccount: true,
  NodeRestriction: true,
  TaintNodesByCondition: true,
  AlwaysPullImages: false,
  ImagePolicyWebhook: false,
  PodSecurity: true,
  PodNodeSelector: false,
  Priority: true,
  DefaultTolerationSeconds: true,
  PodTolerationRestriction: false,
  EventRateLimit: false,
  ExtendedResourceToleration: false,
  DefaultStorageClass: true,
  StorageObjectInUseProtection: true,
  PodGroupProtection: true,
  OwnerReferencesPermissionEnforcement: false,
  PersistentVolumeClaimResize: true,
  RuntimeClass: true,
  CertificateApproval: true,
  CertificateSigning: true,
  ClusterTrustBundleAttest: true,
  CertificateSubjectRestriction: true,
  DefaultIngressClass: true,
  DenyServiceExternalIPs: false,
  PodTopologyLabels: true,
  PodGroupWorkloadExists: true,
  NodeDeclaredFeatureValidator: true,
  JobValidation: true,
  PodResizeValidator: true,
  MutatingAdmissionPolicy: true,
  MutatingAdmissionWebhook: true,
  ValidatingAdmissionPolicy: true,
  ValidatingAdmissionWebhook: true,
  ResourceQuota: true,
  AlwaysDeny: false,
} as const satisfies Readonly<Record<string, boolean>>

export type PluginName = keyof typeof runsByDefault

// the keys of the table are its names
export const pluginNames = Object.keys(runsByDefault) as readonly PluginName[]

const isPluginName = (name: string): name is PluginName => Object.hasOwn(runsByDefault, name)

export interface PluginLists {
  readonly enable?: string | undefined
  readonly disable?: string | undefined
}

/** @throws Error in kube-apiserver's words */
export function pluginsThatRun({ enable, disable }: PluginLists): ReadonlySet<PluginName> {
  const problems: string[] = []
  const namesIn = (list: string | undefined, flag: string): Set<PluginName> => {
    const names = (list ?? '').split(',').filter((name) => name !== '')
    for (const name of names)
      if (!isPluginName(name)) problems.push(`${flag} plugin ${JSON.stringify(name)} is unknown`)
    return new Set(names.filter(isPluginName))
  }
  const enabled = namesIn(enable, 'enable-admission-plugins')
  const disabled = namesIn(disable, 'disable-admission-plugins')
  const both = [...enabled.intersection(disabled)].sort()
  if (both.length > 0)
    problems.push(`[${both.join(' ')}] in enable-admission-plugins and disable-admission-plugins overlapped`)
  if (problems.length > 0) throw new Error(problems.length === 1 ? problems[0] : `[${problems.join(', ')}]`)
  return new Set(pluginNames.filter((name) => enabled.has(name) || (runsByDefault[name] && !disabled.has(name))))
}
