/** The metrics of PodSecurity, with kube-apiserver's labels. */
import { measurePodSecurity } from '../../../metrics/admission.ts'
import type { Labels } from '../../../metrics/series.ts'
import type { Attributes } from '../../attributes.ts'
import type { Mode, Standard } from './policy.ts'
import { LATEST } from './policy.ts'

/** The minor version of Kubernetes that this server implements. */
const RELEASE_MINOR = 36

const aboutRequest = ({ operation, resource, subresource }: Attributes): Labels => ({
  request_operation: operation.toLowerCase(),
  resource: resource.group === '' && resource.resource === 'pods' ? 'pod' : 'controller',
  subresource,
})

export function countEvaluation(
  attributes: Attributes,
  decision: 'allow' | 'deny',
  { level, version }: Standard,
  mode: Mode,
): void {
  measurePodSecurity(attributes.request, 'evaluations', {
    decision,
    mode,
    policy_level: level,
    policy_version: versionLabel(level === 'privileged' ? LATEST : version),
    ...aboutRequest(attributes),
  })
}

/** All future versions share the label `future`, because anybody can make up versions in namespace labels. */
const versionLabel = (version: number): string =>
  version === LATEST ? 'latest' : version > RELEASE_MINOR ? 'future' : `v1.${version}`

export const countExemption = (attributes: Attributes): void =>
  measurePodSecurity(attributes.request, 'exemptions', aboutRequest(attributes))

/**
 * @param fatal the request could not be evaluated at all; else only labels were unreadable, and counted as the
 * strictest policy
 */
export const countError = (attributes: Attributes, fatal: boolean): void =>
  measurePodSecurity(attributes.request, 'errors', { fatal: String(fatal), ...aboutRequest(attributes) })
