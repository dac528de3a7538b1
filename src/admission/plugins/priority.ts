/**
 * Priority: sets the priority of a pod or of a group of pods from its priority class. At most one class is the
 * default for pods without a class.
 */
import type { Pod, PodSpec } from '../../api/core/v1.ts'
import type { PriorityClass } from '../../api/scheduling/v1.ts'
import type { PodGroup } from '../../api/scheduling/v1alpha2.ts'
import { builtInServed } from '../../registry/served/built-in-served.ts'
import { recentObject, recentObjects } from '../../tenancy/recent-objects.ts'
import { storedObjects } from '../../tenancy/stored-objects.ts'
import type { AdmissionPlugin, Attributes } from '../attributes.ts'
import { readOnce } from '../read-once.ts'
import { admissionForbidden } from '../forbidden.ts'
import { isOfPods, podOf } from './pod-attributes.ts'

const PRIORITY_CLASSES = { group: 'scheduling.k8s.io', resource: 'priorityclasses' }

const isOf =
  (name: string) =>
  ({ resource, subresource }: Attributes): boolean =>
    resource.group === PRIORITY_CLASSES.group && resource.resource === name && subresource === ''
const isOfClasses = isOf(PRIORITY_CLASSES.resource)
const isOfPodGroups = isOf('podgroups')

export const priority: AdmissionPlugin = {
  name: 'Priority',
  handles: (attributes) =>
    (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
    (isOfPods(attributes) ||
      isOfClasses(attributes) ||
      (isOfPodGroups(attributes) && attributes.operation === 'CREATE')),
  reads(attributes) {
    if (!isOfPods(attributes) || attributes.operation !== 'CREATE') return []
    const { priorityClassName: name } = podOf(attributes).spec ?? {}
    return [name ? readClass(attributes, name) : readClasses(attributes)]
  },
  async admit(attributes) {
    if (isOfPodGroups(attributes)) return setGroupPriority(attributes)
    if (!isOfPods(attributes)) return
    const pod = podOf(attributes)
    const spec = (pod.spec ??= {})
    if (attributes.operation === 'CREATE') return setPriority(attributes, spec)
    const old = (attributes.oldObject as Pod | undefined)?.spec
    if (spec.priority === undefined && old?.priority !== undefined) spec.priority = old.priority
    if (spec.preemptionPolicy === undefined && old?.preemptionPolicy !== undefined)
      spec.preemptionPolicy = old.preemptionPolicy
  },
  async validate(attributes) {
    if (!isOfClasses(attributes)) return
    const wanted = attributes.object as PriorityClass | undefined
    if (wanted?.globalDefault !== true) return
    const found = await defaultClass(attributes)
    if (found === undefined) return
    const isSame = attributes.operation === 'UPDATE' && found.metadata.name === wanted.metadata.name
    if (!isSame)
      throw admissionForbidden(
        attributes,
        `PriorityClass ${found.metadata.name} is already marked as default. Only one default can exist`,
      )
  },
}

async function setGroupPriority(attributes: Attributes): Promise<void> {
  const { request, object } = attributes
  if (!builtInServed(request.env).gates.enabled('WorkloadAwarePreemption')) return
  // only PodGroups are written at this path
  const spec = ((object as PodGroup).spec ??= {})
  const found = await classOf(attributes, spec, (why) => admissionForbidden(attributes, why))
  const value = found?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value)
    throw admissionForbidden(
      attributes,
      `priority set in the pod group (${spec.priority}) must match the priority computed (${value}) based on the priority class set in the spec`,
    )
  spec.priority = value
  if (found !== undefined) spec.priorityClassName = found.metadata.name!
}

async function setPriority(attributes: Attributes, spec: PodSpec): Promise<void> {
  const found = await classOf(attributes, spec, (why) => admissionForbidden(attributes, why))
  if (found !== undefined) spec.priorityClassName = found.metadata.name!
  const value = found?.value ?? 0
  if (spec.priority !== undefined && spec.priority !== value)
    throw admissionForbidden(
      attributes,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  spec.priority = value
  const policy = found === undefined ? 'PreemptLowerPriority' : found.preemptionPolicy
  if (policy === undefined) return
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== policy)
    throw admissionForbidden(
      attributes,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
    )
  spec.preemptionPolicy = policy
}

async function classOf(
  attributes: Attributes,
  { priorityClassName: name }: Pick<PodSpec, 'priorityClassName'>,
  refusal: (why: string) => Error,
): Promise<PriorityClass | undefined> {
  if (!name) return defaultClass(attributes)
  const found = await readClass(attributes, name)
  if (found === undefined) throw refusal(`no PriorityClass with name ${name} was found`)
  return found
}

const readClass = (attributes: Attributes, name: string): Promise<PriorityClass | undefined> =>
  readOnce(attributes, `priorityclasses ${name}`, () =>
    recentObject<PriorityClass>(attributes.request, PRIORITY_CLASSES, name),
  )

const readClasses = (attributes: Attributes): Promise<readonly PriorityClass[]> =>
  readOnce(attributes, 'priorityclasses', () =>
    // a second default class is refused, so this check reads the stored classes and not the snapshot, which may be a
    // second old
    isOfClasses(attributes)
      ? storedObjects<PriorityClass>(attributes.request, PRIORITY_CLASSES)
      : recentObjects<PriorityClass>(attributes.request, PRIORITY_CLASSES),
  )

/** The class for pods that name none. Of several default classes the one with the lowest value counts. */
async function defaultClass(attributes: Attributes): Promise<PriorityClass | undefined> {
  const classes = await readClasses(attributes)
  return classes
    .filter(({ globalDefault }) => globalDefault === true)
    .sort((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
}
