/** What NodeRestriction checks of a PodCertificateRequest: its pod runs on the kubelet's node, under the account it names. */
import type { PodCertificateRequest, PodCertificateRequestSpec } from '../../api/certificates/v1beta1.ts'
import type { Node, Pod, ServiceAccount } from '../../api/core/v1.ts'
import type { StatusError } from '../../api/status.ts'
import { plainError } from '../../api/status.ts'
import { goQuote } from '../../go/quote.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import type { Attributes } from '../attributes.ts'
import { admissionForbidden as refusal } from '../forbidden.ts'

export const MIRROR = 'kubernetes.io/config.mirror'

const NODES = { group: '', resource: 'nodes' }
const PODS = { group: '', resource: 'pods' }
const SERVICE_ACCOUNTS = { group: '', resource: 'serviceaccounts' }

export async function podCertificateRequest(attributes: Attributes, node: string): Promise<void> {
  const { operation, subresource, object, request } = attributes
  if (!builtInServed(request.env).gates.enabled('PodCertificateRequest'))
    throw refusal(attributes, 'PodCertificateRequest feature gate is disabled')
  if (operation !== 'CREATE') throw refusal(attributes, `unexpected operation ${operation}`)
  if (subresource !== '') throw refusal(attributes, `unexpected subresource ${subresource}`)
  // only PodCertificateRequests are created at this path
  const { spec = {} } = object as unknown as PodCertificateRequest
  const { nodeName = '' } = spec
  if (nodeName !== node)
    throw refusal(
      attributes,
      `PodCertificateRequest.Spec.NodeName=${goQuote(nodeName)}, which is not the requesting node ${goQuote(node)}`,
    )
  const pod = `${attributes.namespace}/${spec.podName ?? ''}`
  await checkNode(attributes, spec, pod)
  await checkPod(attributes, spec, pod)
  await checkAccount(attributes, spec, pod)
}

// kube-apiserver's cache may be older than what the kubelet knows, so objects that are absent or have another UID are
// no refusal: the kubelet tries again
const absent = (what: string, error: string): StatusError =>
  plainError(`while retrieving ${what} named in the PodCertificateRequest: ${error} not found`)

async function checkNode({ request }: Attributes, spec: PodCertificateRequestSpec, pod: string): Promise<void> {
  const { nodeName = '', nodeUID = '' } = spec
  const found = await storedObject<Node>(request, NODES, nodeName)
  if (found === undefined) throw absent(`node ${goQuote(nodeName)}`, `node ${goQuote(nodeName)}`)
  const { uid = '' } = found.metadata
  if (uid !== nodeUID)
    throw plainError(
      `PodCertificateRequest for pod ${goQuote(pod)} names node UID ${goQuote(nodeUID)}, inconsistent with the running node (${goQuote(uid)})`,
    )
}

async function checkPod(attributes: Attributes, spec: PodCertificateRequestSpec, key: string): Promise<void> {
  const { nodeName = '', podName = '', podUID = '', serviceAccountName = '' } = spec
  const pod = await storedObject<Pod>(attributes.request, PODS, key)
  if (pod === undefined) throw absent(`pod ${goQuote(key)}`, `pod ${goQuote(podName)}`)
  const { uid = '', annotations = {} } = pod.metadata
  if (uid !== podUID)
    throw plainError(
      `PodCertificateRequest for pod ${goQuote(key)} contains pod UID (${goQuote(podUID)}) which differs from running pod ${goQuote(uid)}`,
    )
  if (pod.spec?.nodeName !== nodeName)
    throw refusal(
      attributes,
      `pod ${goQuote(key)} is not running on node ${goQuote(nodeName)} named in the PodCertificateRequest`,
    )
  if (annotations[MIRROR] !== undefined) throw refusal(attributes, `pod ${goQuote(key)} is a mirror pod`)
  const account = pod.spec.serviceAccountName ?? ''
  if (account !== serviceAccountName)
    throw refusal(
      attributes,
      `PodCertificateRequest for pod ${goQuote(key)} contains serviceAccountName (${goQuote(serviceAccountName)}) that differs from running pod (${goQuote(account)})`,
    )
}

async function checkAccount(attributes: Attributes, spec: PodCertificateRequestSpec, pod: string): Promise<void> {
  const { serviceAccountName = '', serviceAccountUID = '' } = spec
  const key = `${attributes.namespace}/${serviceAccountName}`
  const account = await storedObject<ServiceAccount>(attributes.request, SERVICE_ACCOUNTS, key)
  if (account === undefined)
    throw absent(`service account ${goQuote(key)}`, `serviceaccount ${goQuote(serviceAccountName)}`)
  const { uid = '' } = account.metadata
  if (uid !== serviceAccountUID)
    throw plainError(
      `PodCertificateRequest for pod ${goQuote(pod)} names service account UID ${goQuote(serviceAccountUID)}, which differs from the running service account (${goQuote(uid)})`,
    )
}
