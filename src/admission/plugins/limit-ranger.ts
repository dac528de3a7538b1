/**
 * LimitRanger: the defaults that a namespace's LimitRanges give to containers without requests, and the bounds that
 * they set.
 */
import type { Container, LimitRange, LimitRangeItem, PersistentVolumeClaim, Pod } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { aggregate } from '../../authorization/verdict.ts'
import { aggregatedResources } from '../../schema/pod-resource-defaults.ts'
import { Quantity } from '../../schema/quantity.ts'
import { recentObjects } from '../../tenancy/recent-objects.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { readOnce } from '../read-once.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const ANNOTATION = 'kubernetes.io/limit-ranger'

type Amounts = Readonly<Record<string, string>>

const isOfClaims = ({ resource, subresource }: Attributes): boolean =>
  resource.group === '' && resource.resource === 'persistentvolumeclaims' && subresource === ''

export const limitRanger: AdmissionPlugin = {
  name: 'LimitRanger',
  handles(attributes) {
    const { operation, subresource } = attributes
    if (operation === 'UPDATE' && subresource === 'resize') return isOfPods(attributes, 'resize')
    if (operation === 'CREATE') return isOfPods(attributes) || isOfClaims(attributes)
    return operation === 'UPDATE' && isOfClaims(attributes)
  },
  reads: (attributes) => (isOfClaims(attributes) ? [] : [limitRangesOf(attributes)]),
  async admit(attributes) {
    if (isOfClaims(attributes)) return
    for (const { spec } of await limitRangesOf(attributes)) applyDefaults(podOf(attributes), spec?.limits ?? [])
  },
  async validate(attributes) {
    for (const { spec } of await limitRangesOf(attributes)) {
      const problems = isOfClaims(attributes)
        ? claimProblems(attributes.object as PersistentVolumeClaim, spec?.limits ?? [])
        : podProblems(podOf(attributes), spec?.limits ?? [])
      if (problems.length === 0) continue
      const why = aggregate(problems)
      throw admissionForbidden(attributes, why)
    }
  },
}

async function limitRangesOf(attributes: Attributes): Promise<readonly LimitRange[]> {
  if (attributes.oldObject?.metadata.deletionTimestamp !== undefined) return []
  const { request, namespace } = attributes
  return readOnce(attributes, `limitranges ${namespace}`, () =>
    recentObjects<LimitRange>(request, { group: '', resource: 'limitranges' }, namespace),
  )
}

function applyDefaults(pod: Pod, limits: readonly LimitRangeItem[]): void {
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const requests: Amounts = together(ofContainers.map((item) => item.defaultRequest))
  const maxima: Amounts = together(ofContainers.map((item) => item.default))
  const notes = [
    ...(pod.spec?.containers ?? []).flatMap((container) => fill(container, 'container', requests, maxima)),
    ...(pod.spec?.initContainers ?? []).flatMap((container) => fill(container, 'init container', requests, maxima)),
  ]
  if (notes.length === 0) return
  const { metadata } = pod
  metadata.annotations = { ...metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${notes.join('; ')}` }
}

/** Joins amounts; later lists win. */
const together = (lists: readonly (Amounts | undefined)[]): Amounts =>
  Object.fromEntries(lists.flatMap((list) => Object.entries(list ?? {})))

/** @returns the text of the annotation about the values that were set */
function fill(container: Container, kind: string, requests: Amounts, limits: Amounts): string[] {
  const notes: string[] = []
  for (const [part, defaults, word] of [
    ['requests', requests, 'request'],
    ['limits', limits, 'limit'],
  ] as const) {
    const own = container.resources?.[part] ?? {}
    const missing = Object.keys(defaults).filter((name) => !Object.hasOwn(own, name))
    if (missing.length === 0) continue
    const added = Object.fromEntries(missing.map((name) => [name, ownValue(defaults, name)!]))
    container.resources = { ...container.resources, [part]: { ...own, ...added } }
    notes.push(`${missing.sort().join(', ')} ${word} for ${kind} ${container.name ?? ''}`)
  }
  return notes
}

function claimProblems({ spec }: PersistentVolumeClaim, limits: readonly LimitRangeItem[]): string[] {
  const requests = spec?.resources?.requests ?? {}
  return limits
    .filter(({ type }) => type === 'PersistentVolumeClaim')
    .flatMap(({ type, min, max }) => [
      ...each(min, (name, bound) => minProblem(type!, name, bound, requests, {})),
      ...each(max, (name, bound) => maxRequestProblem(type!, name, bound, requests)),
    ])
}

function podProblems(pod: Pod, limits: readonly LimitRangeItem[]): string[] {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
  return limits.flatMap((item) => {
    if (item.type === 'Container')
      return containers.flatMap(({ resources = {} }) =>
        boundProblems(item, resources.requests ?? {}, resources.limits ?? {}),
      )
    if (item.type === 'Pod') return boundProblems(item, podTotal(pod, 'requests'), podTotal(pod, 'limits'))
    return []
  })
}

/** What the whole pod uses. What it declares for itself counts in place of its containers. */
function podTotal({ spec = {} }: Pod, part: 'requests' | 'limits'): Record<string, string> {
  const total = Object.fromEntries(
    [...aggregatedResources(spec, part)].map(([name, amount]) => [name, amount.toString()]),
  )
  const own = Object.entries(spec.resources?.[part] ?? {}).filter(([name]) => name === 'cpu' || name === 'memory')
  return { ...total, ...Object.fromEntries(own) }
}

function each(bounds: Amounts | undefined, check: (name: string, bound: string) => string | undefined): string[] {
  return Object.entries(bounds ?? {}).flatMap(([name, bound]) => {
    const problem = check(name, bound)
    return problem === undefined ? [] : [problem]
  })
}

const boundProblems = (
  { type = '', min, max, maxLimitRequestRatio }: LimitRangeItem,
  requests: Amounts,
  limits: Amounts,
): string[] => [
  ...each(min, (name, bound) => minProblem(type, name, bound, requests, limits)),
  ...each(max, (name, bound) => maxProblem(type, name, bound, requests, limits)),
  ...each(maxLimitRequestRatio, (name, bound) => ratioProblem(type, name, bound, requests, limits)),
]

const isLess = (a: string, b: string): boolean => Quantity.parse(a).compare(Quantity.parse(b)) < 0

function minProblem(type: string, name: string, bound: string, requests: Amounts, limits: Amounts): string | undefined {
  const text = `minimum ${name} usage per ${type} is ${bound}`
  const request = ownValue(requests, name)
  const limit = ownValue(limits, name)
  if (request === undefined) return `${text}.  No request is specified`
  if (isLess(request, bound)) return `${text}, but request is ${request}`
  return limit !== undefined && isLess(limit, bound) ? `${text}, but limit is ${limit}` : undefined
}

function maxRequestProblem(type: string, name: string, bound: string, requests: Amounts): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${bound}`
  const request = ownValue(requests, name)
  if (request === undefined) return `${text}.  No request is specified`
  return isLess(bound, request) ? `${text}, but request is ${request}` : undefined
}

function maxProblem(type: string, name: string, bound: string, requests: Amounts, limits: Amounts): string | undefined {
  const text = `maximum ${name} usage per ${type} is ${bound}`
  const request = ownValue(requests, name)
  const limit = ownValue(limits, name)
  if (limit === undefined) return `${text}.  No limit is specified`
  if (isLess(bound, limit)) return `${text}, but limit is ${limit}`
  return request !== undefined && isLess(bound, request) ? `${text}, but request is ${request}` : undefined
}

function ratioProblem(
  type: string,
  name: string,
  bound: string,
  requests: Amounts,
  limits: Amounts,
): string | undefined {
  const text = `${name} max limit to request ratio per ${type} is ${bound}`
  const request = ownValue(requests, name)
  const limit = ownValue(limits, name)
  if (request === undefined || Quantity.parse(request).isZero)
    return `${text}, but no request is specified or request is 0`
  if (limit === undefined || Quantity.parse(limit).isZero) return `${text}, but no limit is specified or limit is 0`
  const ratio = Quantity.parse(limit).milliValue() / Quantity.parse(request).milliValue()
  return ratio * 1000 > Quantity.parse(bound).milliValue()
    ? `${text}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined
}
