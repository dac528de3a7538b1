/** Warns the user who sets a stricter level about the existing pods of the namespace that violate it. The pods stay. */
import type { Pod } from '../../../api/core/v1.ts'
import type { KubeObject } from '../../../api/object.ts'
import type { ApiCall } from '../../../request/context.ts'
import { eachStoredObject } from '../../../tenancy/stored-objects.ts'
import { reasonText, violationsOf } from './evaluate.ts'
import type { Standard } from './policy.ts'
import { standardText } from './policy.ts'

/** The most pods that are checked, as in kube-apiserver. */
const MOST_PODS = 3000

const PODS = { group: '', resource: 'pods' }

interface Found {
  /** The first pod by name. */
  name: string
  count: number
}

/**
 * @param isExempt whether the warnings leave a pod out: its runtime class is exempt
 * @returns warnings: how many pods were not checked, what is violated, and by which pods
 */
export async function warningsOfPods(
  request: ApiCall,
  namespace: string,
  standard: Standard,
  isExempt: (pod: Pod) => boolean,
): Promise<string[]> {
  const found = new Map<string, Found>()
  const judge = ({ metadata, spec }: Pod & KubeObject): void => {
    const reasons = reasonText(violationsOf(standard, metadata.annotations, spec))
    if (reasons === '') return
    const { name = '' } = metadata
    const same = found.get(reasons)
    if (same === undefined) found.set(reasons, { name, count: 1 })
    else {
      same.count += 1
      if (name < same.name) same.name = name
    }
  }
  const { checked, total } = await eachPod(request, namespace, isExempt, judge)
  const warnings: string[] = []
  if (checked < total)
    warnings.push(`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`)
  if (found.size > 0)
    warnings.push(
      `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${standardText(standard)}"`,
    )
  const ofPods = [...found].map(([reasons, { name, count }]) => `${name}${andMore(count - 1)}: ${reasons}`)
  return [...warnings, ...ofPods.sort((a, b) => (a < b ? -1 : 1))]
}

function andMore(count: number): string {
  if (count === 0) return ''
  return count === 1 ? ' (and 1 other pod)' : ` (and ${count} other pods)`
}

/** Checks one pod of each controller first, because the controller's other pods are like it. */
async function eachPod(
  request: ApiCall,
  namespace: string,
  isExempt: (pod: Pod) => boolean,
  judge: (pod: Pod & KubeObject) => void,
): Promise<{ checked: number; total: number }> {
  const controllers = new Set<string>()
  const alike: (Pod & KubeObject)[] = []
  let checked = 0
  let total = 0
  for await (const pod of eachStoredObject<Pod>(request, PODS, namespace)) {
    if (isExempt(pod)) continue
    total += 1
    const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.uid
    if (checked === MOST_PODS) continue
    if (controller !== undefined && controllers.has(controller)) {
      if (alike.length < MOST_PODS) alike.push(pod)
      continue
    }
    if (controller !== undefined) controllers.add(controller)
    judge(pod)
    checked += 1
  }
  const rest = alike.slice(0, MOST_PODS - checked)
  rest.forEach(judge)
  return { checked: checked + rest.length, total }
}
