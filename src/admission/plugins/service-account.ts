/**
 * ServiceAccount: gives a pod a ServiceAccount of its namespace. Its containers get a volume with the account's
 * token, the cluster's certificates and the namespace.
 */
import { problemOfLookedUpName } from './looked-up-name.ts'
import type { Pod, PodSpec, ServiceAccount, Volume } from '../../api/core/v1.ts'
import { podReferences } from '../../authorization/pod-references.ts'
import { MIRROR_POD } from '../../validation/pod/pod-spec.ts'
import { generatedName } from '../../registry/generated-name.ts'
import { parseBoolean } from '../../api/feature-gates.ts'
import { plainError } from '../../api/status.ts'
import { recentObject } from '../../tenancy/recent-objects.ts'
import { readOnce } from '../read-once.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const DEFAULT_ACCOUNT = 'default'
const VOLUME_PREFIX = 'kube-api-access-'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'
const ENFORCE_SECRETS = 'kubernetes.io/enforce-mountable-secrets'
/**
 * An hour and seven seconds. Tokens with this lifetime are extended, and their use after it is recorded in the audit
 * log.
 */
const TOKEN_SECONDS = 60 * 60 + 7
/** A new namespace gets its account `default` a moment later, so the read is repeated. */
const TRIES_FOR_DEFAULT = 10
const WAIT_MILLISECONDS = 150

export const serviceAccount: AdmissionPlugin = {
  name: 'ServiceAccount',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' && isOfPods(attributes)) ||
    (attributes.operation === 'UPDATE' &&
      attributes.subresource === 'ephemeralcontainers' &&
      isOfPods(attributes, 'ephemeralcontainers')),
  reads(attributes) {
    if (attributes.operation !== 'CREATE' || isMirror(podOf(attributes))) return []
    return [readAccount(attributes, podOf(attributes).spec?.serviceAccountName || DEFAULT_ACCOUNT)]
  },
  async admit(attributes) {
    if (attributes.operation !== 'CREATE') return
    const pod = podOf(attributes)
    const spec = (pod.spec ??= {})
    // mirror pods are checked before other plugins change them
    if (isMirror(pod)) return refuseSecretsOfMirror(attributes, spec)
    spec.serviceAccountName ||= DEFAULT_ACCOUNT
    spec.serviceAccount = spec.serviceAccountName
    const account = await accountOf(attributes, spec.serviceAccountName)
    if (spec.automountServiceAccountToken ?? account.automountServiceAccountToken ?? true) mountToken(spec)
    if ((spec.imagePullSecrets ?? []).length === 0 && (account.imagePullSecrets ?? []).length > 0)
      spec.imagePullSecrets = account.imagePullSecrets!.map(({ name }) => ({ name: name ?? '' }))
    // before a webhook is told of the pod, and once more when none changes it any more
    await check(attributes)
  },
  validate: check,
}

async function check(attributes: Attributes): Promise<void> {
  const pod = podOf(attributes)
  const { spec = {} } = pod
  const isEphemeral = attributes.operation === 'UPDATE'
  if (isMirror(pod) && !isEphemeral) return refuseSecretsOfMirror(attributes, spec)
  if (!spec.serviceAccountName)
    throw admissionForbidden(
      attributes,
      `no service account specified for pod ${attributes.namespace}/${pod.metadata.name ?? ''}`,
    )
  const account = await accountOf(attributes, spec.serviceAccountName)
  if (parseBoolean(account.metadata.annotations?.[ENFORCE_SECRETS] ?? '') !== true) return
  const problem = foreignSecret(spec, account, isEphemeral)
  // kube-apiserver makes no 403 of this error about ephemeral containers
  if (problem !== undefined) throw isEphemeral ? plainError(problem) : admissionForbidden(attributes, problem)
}

const isMirror = ({ metadata }: Pod): boolean => metadata.annotations?.[MIRROR_POD] !== undefined

async function accountOf(attributes: Attributes, name: string): Promise<ServiceAccount> {
  const { namespace } = attributes
  const problem = problemOfLookedUpName(name)
  if (problem !== undefined)
    throw admissionForbidden(attributes, `error looking up service account ${namespace}/${name}: ${problem}`)
  const tries = name === DEFAULT_ACCOUNT ? TRIES_FOR_DEFAULT : 1
  for (let attempt = 1; attempt <= tries; attempt++) {
    if (attempt > 1) await new Promise((resolve) => setTimeout(resolve, WAIT_MILLISECONDS))
    const found = await readAccount(attributes, name, attempt)
    if (found !== undefined) return found
  }
  throw admissionForbidden(
    attributes,
    `error looking up service account ${namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`,
  )
}

/** Each try reads by itself. The phases of a quick write share a read. */
const readAccount = (attributes: Attributes, name: string, attempt = 1): Promise<ServiceAccount | undefined> => {
  const { request, namespace } = attributes
  const key = `${namespace}/${name}`
  return readOnce(attributes, `serviceaccounts ${key} ${attempt}`, () =>
    recentObject<ServiceAccount>(request, { group: '', resource: 'serviceaccounts' }, key),
  )
}

function mountToken(spec: PodSpec): void {
  const existing = (spec.volumes ?? []).find(({ name = '' }) => name.startsWith(VOLUME_PREFIX))?.name
  const name = existing ?? generatedName(VOLUME_PREFIX)
  let isNeeded = false
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const mounts = container.volumeMounts ?? []
    if (mounts.some(({ mountPath }) => mountPath === MOUNT_PATH)) continue
    container.volumeMounts = [...mounts, { name, readOnly: true, mountPath: MOUNT_PATH }]
    isNeeded = true
  }
  if (existing === undefined && isNeeded) spec.volumes = [...(spec.volumes ?? []), tokenVolume(name)]
}

const tokenVolume = (name: string): Volume => ({
  name,
  projected: {
    sources: [
      { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: 'token' } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
      {
        downwardAPI: {
          items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
    defaultMode: 0o644,
  },
})

function refuseSecretsOfMirror(attributes: Attributes, spec: PodSpec): void {
  if (spec.serviceAccountName) throw admissionForbidden(attributes, 'a mirror pod may not reference service accounts')
  if (podReferences({ metadata: {}, spec }).secrets.size > 0)
    throw admissionForbidden(attributes, 'a mirror pod may not reference secrets')
  const hasToken = (spec.volumes ?? []).some(({ projected }) =>
    (projected?.sources ?? []).some(({ serviceAccountToken }) => serviceAccountToken),
  )
  if (hasToken) throw admissionForbidden(attributes, 'a mirror pod may not use ServiceAccountToken volume projections')
}

/** The first secret that the pod uses and that the account does not list. */
function foreignSecret(spec: PodSpec, account: ServiceAccount, isEphemeral: boolean): string | undefined {
  const allowed = new Set((account.secrets ?? []).map(({ name = '' }) => name))
  const byAccount = `is not allowed because service account ${account.metadata.name} does not reference that`
  const lists = isEphemeral
    ? ([['ephemeral container', spec.ephemeralContainers]] as const)
    : ([
        ['init container', spec.initContainers],
        ['container', spec.containers],
      ] as const)
  if (!isEphemeral)
    for (const { secret } of spec.volumes ?? [])
      if (secret && !allowed.has(secret.secretName ?? ''))
        return `volume with secret.secretName="${secret.secretName}" ${byAccount} secret`
  for (const [kind, containers = []] of lists)
    for (const { name, env = [], envFrom = [] } of containers) {
      for (const variable of env) {
        const secret = variable.valueFrom?.secretKeyRef?.name
        if (secret !== undefined && !allowed.has(secret))
          return `${kind} ${name} with envVar ${variable.name} referencing secret.secretName="${secret}" ${byAccount} secret`
      }
      for (const { secretRef } of envFrom)
        if (secretRef && !allowed.has(secretRef.name ?? ''))
          return `${kind} ${name} with envFrom referencing secret.secretName="${secretRef.name}" ${byAccount} secret`
    }
  if (isEphemeral) return undefined
  const pulls = new Set((account.imagePullSecrets ?? []).map(({ name = '' }) => name))
  for (const [index, { name = '' }] of (spec.imagePullSecrets ?? []).entries())
    if (!pulls.has(name)) return `imagePullSecrets[${index}].name="${name}" ${byAccount} imagePullSecret`
  return undefined
}
