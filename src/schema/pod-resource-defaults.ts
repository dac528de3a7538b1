/** Defaults for pod-level resources, calculated from those of the containers (feature gate PodLevelResources). */
import type * as CoreV1 from '../api/core/v1.ts'
import { ownValue } from '../base/own.ts'
import { Quantity } from './quantity.ts'

type Quantities = Record<string, string>

const isHugePages = (name: string) => name.startsWith('hugepages-')
const isSupported = (name: string) => name === 'cpu' || name === 'memory' || isHugePages(name)

/** A pod without pod-level resources gets none. */
export function defaultPodResources(spec: CoreV1.PodSpec): void {
  const { resources } = spec
  if (resources === undefined) return
  if (hasAny(resources.limits) || hasAny(resources.requests)) defaultHugePageLimits(spec, resources)
  if (hasAny(resources.limits)) defaultRequests(spec, resources)
}

const hasAny = (quantities: Quantities | undefined) => quantities !== undefined && Object.keys(quantities).length > 0

function defaultHugePageLimits(spec: CoreV1.PodSpec, resources: CoreV1.ResourceRequirements): void {
  const limits: Quantities = { ...resources.limits }
  for (const [name, total] of aggregatedResources(spec, 'limits'))
    // own key: hugepages-…
    if (isHugePages(name) && ownValue(resources.requests, name) === undefined) limits[name] ??= total.toString()
  if (hasAny(limits)) resources.limits = limits
}

function defaultRequests(spec: CoreV1.PodSpec, resources: CoreV1.ResourceRequirements): void {
  const requests: Quantities = { ...resources.requests }
  for (const [name, total] of aggregatedResources(spec, 'requests'))
    // own key: a supported resource, here and below
    if (isSupported(name) && !isHugePages(name)) requests[name] ??= total.toString()
  // own key: a supported resource
  for (const [name, limit] of Object.entries(resources.limits ?? {})) if (isSupported(name)) requests[name] ??= limit
  if (hasAny(requests)) resources.requests = requests
}

/**
 * The most that containers use at one time: the sum of containers and sidecars, or an init container together with the
 * sidecars that started before it.
 */
export function aggregatedResources(spec: CoreV1.PodSpec, what: 'limits' | 'requests'): Map<string, Quantity> {
  const total = new Map<string, Quantity>()
  for (const container of spec.containers ?? []) addAll(total, container.resources?.[what])
  const sidecars = new Map<string, Quantity>()
  const starting = new Map<string, Quantity>()
  for (const container of spec.initContainers ?? []) {
    const quantities = container.resources?.[what]
    // resources that only sidecars use need no entry here: they were counted when the sidecars started
    for (const [name, text] of Object.entries(quantities ?? {})) {
      const quantity = Quantity.parse(text)
      raise(starting, name, sidecars.get(name)?.add(quantity) ?? quantity)
    }
    if (container.restartPolicy === 'Always') {
      addAll(total, quantities)
      addAll(sidecars, quantities)
    }
  }
  for (const [name, quantity] of starting) raise(total, name, quantity)
  return total
}

function addAll(total: Map<string, Quantity>, quantities: Quantities | undefined): void {
  for (const [name, text] of Object.entries(quantities ?? {})) {
    const quantity = Quantity.parse(text)
    const before = total.get(name)
    total.set(name, before === undefined ? quantity : before.add(quantity))
  }
}

function raise(total: Map<string, Quantity>, name: string, least: Quantity): void {
  const before = total.get(name)
  if (before === undefined || before.compare(least) < 0) total.set(name, least)
}
