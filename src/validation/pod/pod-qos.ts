import type { PodSpec } from '../../api/core/v1.ts'
import { ownValue } from '../../base/own.ts'
import { Quantity } from '../../schema/quantity.ts'

const COMPUTE = ['cpu', 'memory']

/** The QoS class, from the requests and limits of the pod or its containers. The kubelet evicts pods by this class. */
export function qosClassOf(spec: PodSpec): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const parts = spec.resources
    ? [spec.resources]
    : [...(spec.containers ?? []), ...(spec.initContainers ?? [])].map(({ resources = {} }) => resources)
  const requests = new Map<string, Quantity>()
  const limits = new Map<string, Quantity>()
  let isGuaranteed = true
  for (const part of parts) {
    addPositive(requests, part.requests)
    const limited = addPositive(limits, part.limits)
    const says = spec.resources === undefined || Object.keys(part.limits ?? {}).length > 0
    if (says && limited < COMPUTE.length) isGuaranteed = false
  }
  if (requests.size === 0 && limits.size === 0) return 'BestEffort'
  const covered = [...requests].every(([name, amount]) => limits.get(name)?.equals(amount) === true)
  return isGuaranteed && covered && requests.size === limits.size ? 'Guaranteed' : 'Burstable'
}

/** @returns the number of resources with an amount */
function addPositive(total: Map<string, Quantity>, list: Readonly<Record<string, string>> = {}): number {
  let found = 0
  for (const name of COMPUTE) {
    const text = ownValue(list, name)
    const amount = text === undefined ? undefined : Quantity.parse(text)
    if (amount === undefined || amount.sign <= 0) continue
    found++
    total.set(name, total.get(name)?.add(amount) ?? amount)
  }
  return found
}
