/** RuntimeClass: sets the overhead of the pod's class, and limits the pod to nodes that support the class. */
import { goQuote } from '../../go/quote.ts'
import { plainError } from '../../api/status.ts'
import { problemOfLookedUpName } from './looked-up-name.ts'
import type { PodSpec } from '../../api/core/v1.ts'
import type { RuntimeClass } from '../../api/node/v1.ts'
import { ownValue } from '../../base/own.ts'
import { sentField } from '../../schema/emptied.ts'
import { Quantity } from '../../schema/quantity.ts'
import { storedObject } from '../../tenancy/stored-object.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'
import { mergeTolerations } from './tolerations.ts'

const RUNTIME_CLASSES = { group: 'node.k8s.io', resource: 'runtimeclasses' }
const DIFFERS = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"

type Amounts = Readonly<Record<string, string>>

export const runtimeClass: AdmissionPlugin = {
  name: 'RuntimeClass',
  handles: (attributes) => attributes.operation === 'CREATE' && isOfPods(attributes),
  async admit(attributes) {
    const spec = (podOf(attributes).spec ??= {})
    const found = await classOf(attributes, spec)
    const overhead = found?.overhead?.podFixed
    if (found?.overhead !== undefined) {
      if (Object.keys(spec.overhead ?? {}).length > 0 && !sameAmounts(spec.overhead, overhead))
        throw admissionForbidden(attributes, DIFFERS)
      if (overhead === undefined) delete spec.overhead
      else spec.overhead = { ...overhead }
    }
    if (found?.scheduling !== undefined) applyScheduling(attributes, spec, found.scheduling)
  },
  async validate(attributes) {
    const { spec = {} } = podOf(attributes)
    const found = await classOf(attributes, spec)
    if (found?.overhead !== undefined) {
      if (!sameAmounts(spec.overhead, found.overhead.podFixed)) throw admissionForbidden(attributes, DIFFERS)
    } else if (sentField(spec, 'overhead') !== undefined)
      throw admissionForbidden(
        attributes,
        'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
      )
  },
}

async function classOf(attributes: Attributes, { runtimeClassName }: PodSpec): Promise<RuntimeClass | undefined> {
  if (runtimeClassName === undefined) return undefined
  const problem = problemOfLookedUpName(runtimeClassName)
  // kube-apiserver makes no 403 of this error
  if (problem !== undefined) throw plainError(problem)
  const found = await storedObject<RuntimeClass>(attributes.request, RUNTIME_CLASSES, runtimeClassName)
  if (found === undefined)
    throw admissionForbidden(attributes, `pod rejected: RuntimeClass ${goQuote(runtimeClassName)} not found`)
  return found
}

function sameAmounts(a: Amounts = {}, b: Amounts = {}): boolean {
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => {
      const other = ownValue(b, name)
      return other !== undefined && Quantity.parse(ownValue(a, name)!).equals(Quantity.parse(other))
    })
  )
}

function applyScheduling(
  attributes: Attributes,
  spec: PodSpec,
  { nodeSelector = {}, tolerations = [] }: NonNullable<RuntimeClass['scheduling']>,
): void {
  for (const [key, value] of Object.entries(nodeSelector)) {
    const own = ownValue(spec.nodeSelector, key)
    if (own !== undefined && own !== value)
      throw admissionForbidden(
        attributes,
        `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
      )
  }
  if (Object.keys(nodeSelector).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...nodeSelector }
  const merged = mergeTolerations(spec.tolerations ?? [], tolerations)
  if (merged.length > 0) spec.tolerations = merged
}
