/**
 * Approves CertificateSigningRequests of kubelets, signs approved requests for the signers of kubernetes.io, and
 * deletes old requests (kubernetes.io/docs/reference/access-authn-authz/certificate-signing-requests).
 */
import { settingsOf } from '../../settings.ts'
import type { CertificateSigningRequest, CertificateSigningRequestCondition } from '../../api/certificates/v1.ts'
import type { KubeObject } from '../../api/object.ts'
import { resourceAttributes } from '../../authorization/attributes.ts'
import { verdictOn } from '../../authorization/authorize.ts'
import type { CertificateRequest } from '../../x509/certificate-request.ts'
import { parseCertificateRequest } from '../../x509/certificate-request.ts'
import { issueCertificate } from '../../x509/issue.ts'
import { fromBase64, toBase64 } from '../../x509/pem.ts'
import { managerClients } from '../client/clientset.ts'
import type { Controller, ControllerContext } from '../controller.ts'
import { signerProblem } from './certificate-signers.ts'

type Request = CertificateSigningRequest & KubeObject

const RESOURCE = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' }
const KUBELET_CLIENT = 'kubernetes.io/kube-apiserver-client-kubelet'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const YEAR = 365 * 24 * HOUR
/** Certificates begin this much earlier, as clocks of verifiers may be slow. A lifetime below SHORT grows by it. */
const BACKDATE = 5 * MINUTE
const SHORT = 8 * HOUR
const MIN_LIFETIME = 10 * MINUTE

/** Key: the request's name. */
export const certificateRequests: Controller = {
  async reconcile(name, context) {
    const request = (await managerClients(context).resource(RESOURCE).get(name)) as Request | undefined
    if (request === undefined || request.metadata.deletionTimestamp !== undefined) return undefined
    const wait = timeLeft(request, context.now())
    if (wait <= 0) {
      await managerClients(context).resource(RESOURCE).delete(request)
      return undefined
    }
    if (await approves(request, context)) return 0
    await sign(request, context)
    return wait
  },
}

const condition = ({ status }: Request, type: string): CertificateSigningRequestCondition | undefined =>
  status?.conditions?.find((one) => one.type === type && one.status === 'True')

/** Milliseconds until the controller deletes the request. */
function timeLeft(request: Request, now: Date): number {
  const decided = condition(request, 'Approved') ?? condition(request, 'Denied') ?? condition(request, 'Failed')
  const since = decided?.lastUpdateTime ?? request.metadata.creationTimestamp ?? ''
  return Date.parse(since) + (decided === undefined ? 24 : 1) * HOUR - now.getTime()
}

const contentOf = ({ spec }: Request): CertificateRequest =>
  parseCertificateRequest(new TextDecoder().decode(fromBase64(spec?.request ?? '')))

/** Approves the request of a kubelet that may have its certificate. @returns whether it did */
async function approves(request: Request, context: ControllerContext): Promise<boolean> {
  const { spec = {}, status, metadata } = request
  if (spec.signerName !== KUBELET_CLIENT || (status?.certificate ?? '') !== '') return false
  if (condition(request, 'Approved') !== undefined || condition(request, 'Denied') !== undefined) return false
  const content = contentOf(request)
  if (signerProblem(KUBELET_CLIENT, content, spec.usages ?? []) !== undefined) return false
  const may = async (subresource: string): Promise<boolean> => {
    const { username = '', uid = '', groups = [], extra = {} } = spec
    const user = { name: username, uid, groups, extra }
    const asked = { apiGroup: RESOURCE.group, apiVersion: '*', resource: RESOURCE.resource, subresource }
    return (await verdictOn(context, resourceAttributes(user, 'create', asked))).allowed
  }
  const own = spec.username === content.commonName && (await may('selfnodeclient'))
  if (!own && !(await may('nodeclient'))) return false
  const what = own ? 'self kubelet client certificate' : 'kubelet client certificate'
  await addCondition(context, metadata, 'approval', {
    type: 'Approved',
    status: 'True',
    reason: 'AutoApproved',
    message: `Auto approving ${what} after SubjectAccessReview.`,
  })
  return true
}

/** Another request that has the name by now gets nothing of what was decided about this one. */
async function addCondition(
  context: ControllerContext,
  metadata: Request['metadata'],
  subresource: 'approval' | 'status',
  added: CertificateSigningRequestCondition,
): Promise<void> {
  await managerClients(context)
    .resource(RESOURCE)
    .updateWithRetries(
      { metadata },
      (object) => {
        const request = object as Request
        request.status = { ...request.status, conditions: [...(request.status?.conditions ?? []), added] }
      },
      subresource,
    )
}

async function sign(request: Request, context: ControllerContext): Promise<void> {
  const { spec = {}, status, metadata } = request
  const { authority: certificate, authorityKey: key } = settingsOf(context.env)
  if (!certificate || !key || (status?.certificate ?? '') !== '') return
  if (condition(request, 'Approved') === undefined || condition(request, 'Failed') !== undefined) return
  const content = contentOf(request)
  const problem = signerProblem(spec.signerName ?? '', content, spec.usages ?? [])
  if (problem === 'not ours') return
  if (problem !== undefined) {
    const failed = { type: 'Failed', status: 'True', reason: 'SignerValidationFailure', message: problem }
    return addCondition(context, metadata, 'status', failed)
  }
  const now = context.now().getTime()
  const lifetime = lifetimeOf(spec.expirationSeconds)
  const issued = await issueCertificate(
    { certificate, key },
    {
      request: content,
      usages: spec.usages ?? [],
      notBefore: new Date(now - BACKDATE),
      notAfter: new Date(now + lifetime - (lifetime < SHORT ? 0 : BACKDATE)),
    },
  )
  const text = toBase64(new TextEncoder().encode(issued))
  await managerClients(context)
    .resource(RESOURCE)
    .updateStatusWithRetries({ metadata }, (object) => {
      const signed = object as Request
      signed.status = { ...signed.status, certificate: text }
    })
}

/** The lifetime of a certificate in milliseconds. */
const lifetimeOf = (seconds: number | undefined): number =>
  seconds === undefined ? YEAR : Math.min(YEAR, Math.max(MIN_LIFETIME, seconds * 1000))
